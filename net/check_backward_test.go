package net

import (
	"strings"
	"testing"
)

// TestCheckBackward: CheckBackward finds, before anything runs, the gradients that Backward refuses, and no others.
func TestCheckBackward(t *testing.T) {
	const down = `propagate_down: true propagate_down: false `
	for name, c := range map[string]struct{ layers, want string }{
		"label of a loss":      {`layer { name: "l" type: "SoftmaxWithLoss" bottom: "w" bottom: "w1" top: "loss" }`, `layer "l" (SoftmaxWithLoss): the layer cannot backpropagate to bottom 1`},
		"left out":             {`layer { name: "l" type: "SoftmaxWithLoss" bottom: "w" bottom: "w1" top: "loss" ` + down + `}`, ""},
		"targets of a loss":    {`layer { name: "l" type: "EuclideanLoss" bottom: "w" bottom: "v" top: "loss" }`, ""},
		"no gradient":          {`layer { name: "l" type: "ArgMax" bottom: "w" top: "a" } layer { name: "r" type: "Reduction" bottom: "a" top: "s" loss_weight: 1 }`, `layer "l" (ArgMax): layers of type ArgMax have no gradient`},
		"no gradient, no loss": {`layer { name: "l" type: "ArgMax" bottom: "w" top: "a" }`, ""},
		"a constant":           {`layer { name: "l" type: "Threshold" bottom: "x" top: "a" } layer { name: "r" type: "Reduction" bottom: "a" top: "s" loss_weight: 1 }`, ""},
		"indices":              {`layer { name: "l" type: "Embed" bottom: "w1" top: "e" embed_param { num_output: 2 input_dim: 3 } } layer { name: "r" type: "Reduction" bottom: "e" top: "s" loss_weight: 1 }`, `layer "l" (Embed): the layer cannot backpropagate to bottom 0`},
		"the last bottom":      {`layer { name: "q" type: "InnerProduct" bottom: "x" top: "q" inner_product_param { num_output: 1 } } layer { name: "l" type: "Filter" bottom: "w" bottom: "q" top: "f" } layer { name: "r" type: "Reduction" bottom: "f" top: "s" loss_weight: 1 }`, `layer "l" (Filter): the layer cannot backpropagate to bottom 1`},
		"zeros": {`layer { name: "m" type: "Reshape" bottom: "w" top: "m" reshape_param { shape { dim: 2 dim: 3 dim: 1 dim: 1 } } }
			layer { name: "q" type: "InnerProduct" bottom: "x" top: "q" inner_product_param { num_output: 5 } }
			layer { name: "l" type: "ROIPooling" bottom: "m" bottom: "q" top: "u" roi_pooling_param { pooled_h: 1 pooled_w: 1 } }
			layer { name: "r" type: "Reduction" bottom: "u" top: "s" loss_weight: 1 }`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			n, err := build(t, `layer { name: "d" type: "DummyData" top: "x" dummy_data_param { shape { dim: 2 dim: 3 } } }
				layer { name: "w" type: "InnerProduct" bottom: "x" top: "w" inner_product_param { num_output: 3 } }
				layer { name: "v" type: "InnerProduct" bottom: "x" top: "v" inner_product_param { num_output: 3 } }
				layer { name: "w1" type: "InnerProduct" bottom: "x" top: "w1" inner_product_param { num_output: 1 } }`+c.layers)
			if err != nil {
				t.Fatal(err)
			}
			got := n.CheckBackward()
			if c.want == "" && got != nil || c.want != "" && (got == nil || !strings.Contains(got.Error(), c.want)) {
				t.Errorf("CheckBackward: %v, want %q", got, c.want)
			}
			if _, err := n.ForwardBackward(); (err == nil) != (got == nil) {
				t.Errorf("Backward: %v", err)
			}
		})
	}
}
