package net

import (
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/layers"
)

// TestTracesOfHingeLoss: the terms that HingeLoss writes to its bottom's gradient in Forward overwrite no values of a later branch. If the
// loss has weight 0, they are added to the gradient, as in a net without shared storage.
func TestTracesOfHingeLoss(t *testing.T) {
	const heads = `
	layer { name: "data" type: "DummyData" top: "x" top: "label" dummy_data_param {
		shape { dim: 4 dim: 50 } shape { dim: 4 }
		data_filler { type: "gaussian" } data_filler { type: "constant" value: 2 } } }
	layer { name: "b" type: "InnerProduct" bottom: "x" top: "b" inner_product_param { num_output: 40 weight_filler { type: "xavier" } } }
	layer { name: "scores" type: "InnerProduct" bottom: "x" top: "scores" inner_product_param { num_output: 40 weight_filler { type: "xavier" } } }
	layer { name: "hinge" type: "HingeLoss" bottom: "scores" bottom: "label" top: "hinge" loss_weight: WEIGHT }
	layer { name: "sigmoid" type: "Sigmoid" bottom: "b" top: "c" }
	layer { name: "d" type: "InnerProduct" bottom: "c" top: "d" inner_product_param { num_output: 40 weight_filler { type: "xavier" } } }
	layer { name: "loss" type: "SoftmaxWithLoss" bottom: "d" bottom: "label" top: "loss" }`
	const also = `
	layer { name: "also" type: "SoftmaxWithLoss" bottom: "scores" bottom: "label" top: "also" }`
	texts := []string{strings.ReplaceAll(heads, "WEIGHT", "1"), strings.ReplaceAll(heads+also, "WEIGHT", "0")}
	for _, engine := range []layers.Engine{layers.CPE, layers.MPE} {
		for _, text := range texts {
			plain := buildWith(t, text, func(o *Options) { o.Device.Engine = engine })
			frugal := buildWith(t, text, func(o *Options) { o.Device.Engine, o.Economise = engine, true })
			sameRuns(t, frugal, plain)
		}
	}
}
