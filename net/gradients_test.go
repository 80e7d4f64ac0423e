package net

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/net/schedule"
)

const (
	trunk = `
	layer { name: "data" type: "DummyData" top: "x" top: "label" dummy_data_param {
		shape { dim: 4 dim: 3 dim: 9 dim: 9 } shape { dim: 4 }
		data_filler { type: "gaussian" } data_filler { type: "constant" value: 2 } } }
	layer { name: "conv" type: "Convolution" bottom: "x" top: "a" convolution_param { num_output: 8 kernel_size: 3 weight_filler { type: "msra" } } }
	layer { name: "tanh" type: "TanH" bottom: "a" top: "t" }`
	normed = `
	layer { name: "bn" type: "BatchNorm" bottom: "b" top: "b" }
	layer { name: "scale" type: "Scale" bottom: "b" top: "b" scale_param { bias_term: true } }`
	rectified = `
	layer { name: "relu" type: "ReLU" bottom: "s" top: "s" }`
	classifier = `
	layer { name: "fc" type: "InnerProduct" bottom: "s" top: "fc" inner_product_param { num_output: 5 weight_filler { type: "xavier" } } }
	layer { name: "loss" type: "SoftmaxWithLoss" bottom: "fc" bottom: "label" top: "loss" }`
)

// pointwise returns a pointwise convolution of "t".
func pointwise(top, more string) string {
	return `
	layer { name: "` + top + `" type: "Convolution" bottom: "t" top: "` + top + `" convolution_param { num_output: 8 kernel_size: 1 ` + more + ` weight_filler { type: "msra" } } }`
}

// wide gives convolutions so many channels that an input gradient is summed in several blocks of channels.
func wide(text string) string {
	return strings.ReplaceAll(text, "num_output: 8 ", "num_output: 600 ")
}

// sum returns an Eltwise sum.
func sum(bottoms ...string) string {
	text := `
	layer { name: "sum" type: "Eltwise" top: "s"`
	for _, b := range bottoms {
		text += ` bottom: "` + b + `"`
	}
	return text + ` }`
}

// TestGradientsShareStorage: sharing storage changes no weight gradient. Storage is shared from a sum to its bottoms, and among the copies
// of a split blob.
func TestGradientsShareStorage(t *testing.T) {
	for _, tt := range []struct {
		name, text   string
		passed, adds bool
	}{
		// A branch of a single convolution reads the sum's gradient while it stands in the shared place, so it must not add there.
		{"identity", trunk + pointwise("b", "") + sum("t", "b") + classifier, true, false},
		{"identity, the other way round", trunk + pointwise("b", "") + sum("b", "t") + classifier, true, false},
		{"identity and ReLU", trunk + pointwise("b", "") + sum("t", "b") + rectified + classifier, true, false},
		{"identity of many channels", wide(trunk+pointwise("b", "")) + sum("t", "b") + classifier, true, false},
		{"identity behind a branch of two", trunk + pointwise("b", "") + `
			layer { name: "second" type: "Convolution" bottom: "b" top: "c" convolution_param { num_output: 8 kernel_size: 1 weight_filler { type: "msra" } } }` +
			sum("t", "c") + classifier, true, true},
		{"a normed branch", trunk + pointwise("b", "") + normed + sum("t", "b") + rectified + classifier, true, true},
		{"what is added comes behind the normed branch", trunk + pointwise("b", "") + normed + pointwise("c", "") + sum("c", "b") + rectified + classifier, true, true},
		{"a normed branch that is thrown away", trunk + pointwise("b", "") + normed + `
			layer { name: "nobody" type: "Silence" bottom: "b" }` + pointwise("c", "") + sum("c", "t") + classifier, true, false},
		{"two branches", trunk + pointwise("b", "stride: 2") + pointwise("c", "stride: 2") + sum("c", "b") + classifier, true, true},
		{"grouped", trunk + pointwise("b", "group: 4") + sum("t", "b") + classifier, true, false},
		{"a reader adds before another reads", trunk + pointwise("b", "") + pointwise("c", "") + sum("b", "t", "c") + rectified + classifier, true, false},
		{"a reader adds before a layer elsewhere reads", trunk + pointwise("c", "") + `
			layer { name: "side" type: "Convolution" bottom: "x" top: "d" convolution_param { num_output: 8 kernel_size: 3 weight_filler { type: "msra" } } }
			layer { name: "early" type: "TanH" bottom: "d" top: "e" }` + pointwise("b", "") + `
			layer { name: "product" type: "Eltwise" bottom: "b" bottom: "c" top: "p" eltwise_param { operation: PROD } }
			layer { name: "sum" type: "Eltwise" bottom: "t" bottom: "e" bottom: "p" top: "s" }` + classifier, true, false},
		{"a kernel of 3x3 does not add", trunk + `
			layer { name: "wide" type: "Convolution" bottom: "t" top: "b" convolution_param { num_output: 8 kernel_size: 3 pad: 1 weight_filler { type: "msra" } } }` +
			sum("t", "b") + classifier, true, false},
		{"coefficients", trunk + pointwise("b", "") + `
			layer { name: "sum" type: "Eltwise" bottom: "t" bottom: "b" top: "s" eltwise_param { coeff: 1 coeff: -1 } }` + classifier, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plain := buildWith(t, tt.text, func(*Options) {})
			frugal := buildWith(t, tt.text, func(o *Options) { o.Economise = true })
			for i, d := range frugal.nodes {
				task := frugal.plan.Tasks[i]
				passed := passedOn(task)
				computesSum := func(m *schedule.Node) bool { return m.Name == "sum" }
				if slices.ContainsFunc(task.Nodes, computesSum) && (len(passed) > 0 && allShare(passed, task.Tops[0])) != tt.passed {
					t.Errorf("bottoms and top of the sum share their gradient: %v", !tt.passed)
				}
				if d.kind.Name == "Split" && allShare(task.Tops, task.Bottoms[0]) != tt.adds {
					t.Errorf("readers of %s add to one gradient: %v", d.param.GetName(), !tt.adds)
				}
			}
			sameGradients(t, frugal, plain)
			frugal.SetDebugInfo(true)
			sameGradients(t, frugal, plain)
		})
	}
}

// passedOn lists the bottoms that share the gradient of the task's top.
func passedOn(t *schedule.Task) (bottoms []*blob.Blob) {
	for j, b := range t.Bottoms {
		if layers.TraitsOf(t.Layer).Grads.Passes.Has(j) {
			bottoms = append(bottoms, b)
		}
	}
	return bottoms
}

func allShare(blobs []*blob.Blob, with *blob.Blob) bool {
	return !slices.ContainsFunc(blobs, func(b *blob.Blob) bool { return !b.SharesDiff(with) })
}

// sameGradients runs both nets and compares weight gradients. In the frugal net, values that need not be kept are NaN before.
func sameGradients(t *testing.T, frugal, plain *Net) {
	t.Helper()
	for i := range frugal.arena.memory {
		frugal.arena.memory[i] = nan
	}
	plain.ClearParamDiffs()
	frugal.ClearParamDiffs()
	if err := errors.Join(forwardBackward(plain), forwardBackward(frugal)); err != nil {
		t.Fatal(err)
	}
	for i, l := range plain.Learnable() {
		near(t, l.Layer, frugal.Learnable()[i].Blob.Diff(), l.Blob.Diff())
	}
}

// TestGradientsReplaced: the bottom's gradient of BatchNorm, Scale and ReLU replaces the top's, unless another layer uses that too. Weight
// gradients do not change.
func TestGradientsReplaced(t *testing.T) {
	norm := func(bottom, top string) string {
		return `
		layer { name: "bn_` + top + `" type: "BatchNorm" bottom: "` + bottom + `" top: "` + top + `" }
		layer { name: "scale_` + top + `" type: "Scale" bottom: "` + top + `" top: "` + top + `" scale_param { bias_term: true } }`
	}
	for _, tt := range []struct {
		name, text string
		replaced   map[string]bool // by the chain's first layer
	}{
		{"alone", trunk + norm("t", "s") + classifier, map[string]bool{"bn_s": true}},
		{"rectified", trunk + norm("t", "s") + rectified + classifier, map[string]bool{"bn_s": true}},
		{"one behind another", trunk + norm("t", "u") + norm("u", "s") + classifier, map[string]bool{"bn_u": true, "bn_s": true}},
		{"of two that are added up the second to go backward", trunk + pointwise("b", "") + norm("b", "n") + pointwise("c", "") + norm("c", "m") + sum("n", "m") + rectified + classifier,
			map[string]bool{"bn_n": true, "bn_m": false}},
		{"what comes in is added itself", trunk + norm("t", "n") + sum("t", "n") + classifier, map[string]bool{"bn_n": false}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plain := buildWith(t, tt.text, func(*Options) {})
			frugal := buildWith(t, tt.text, func(o *Options) { o.Economise = true })
			for i, d := range frugal.nodes {
				task := frugal.plan.Tasks[i]
				want, ok := tt.replaced[d.param.GetName()]
				if ok && (len(task.Nodes) < 2 || allShare(task.Bottoms[:1], task.Tops[0]) != want) {
					t.Errorf("%s: %d layers, gradient replaced: %v", d.param.GetName(), len(task.Nodes), !want)
				}
			}
			sameGradients(t, frugal, plain)
			frugal.SetDebugInfo(true)
			sameGradients(t, frugal, plain)
		})
	}
}
