package net

import (
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// TestRectified: convolutions apply the in-place ReLU layers on their tops, and some layers the Backward of ReLU layers on their bottoms,
// unless debug_info is on. Losses and gradients do not change.
func TestRectified(t *testing.T) {
	const toB = `
	layer { name: "relu" type: "ReLU" bottom: "a" top: "r" }`
	join := func(outputs string) string {
		return images + conv3x3("x", "a", outputs, "") + reluA + conv3x3("x", "b", "32", "") + `
	layer { name: "relu2" type: "ReLU" bottom: "b" top: "b" }
	layer { name: "join" type: "Concat" bottom: "a" bottom: "b" top: "c" }` + conv3x3("c", "s", "8", "") + classifier
	}
	pool := `
	layer { name: "pool" type: "Pooling" bottom: "a" top: "p" pooling_param { kernel_size: 2 stride: 2 } }`
	for _, tt := range []struct {
		name, text string
		want       int
	}{
		{"two", images + conv3x3("x", "a", "16", "") + reluA + conv3x3("a", "s", "8", "") +
			`layer { name: "relu2" type: "ReLU" bottom: "s" top: "s" }` + classifier, 3},
		{"a slope", images + conv3x3("x", "a", "16", "") +
			`layer { name: "relu" type: "ReLU" bottom: "a" top: "a" relu_param { negative_slope: 0.1 } }` + conv3x3("a", "s", "8", "") + classifier, 1},
		{"not in place", images + conv3x3("x", "a", "16", "") + toB + conv3x3("r", "s", "8", "") + classifier, 0},
		{"normalised in blocks", images + conv3x3("x", "a", "32", "") + reluA + `
	layer { name: "norm" type: "LRN" bottom: "a" top: "b" lrn_param { alpha: 0.5 } }` + conv3x3("b", "s", "8", "") + classifier, 2},
		{"normalised by planes", images + conv3x3("x", "a", "12", "") + reluA + lrnTo + `"a" }` + classifier, 2},
		{"joined", join("12"), 4},
		{"joined in blocks", join("16"), 4},
		{"not read on", images + conv3x3("x", "a", "16", "") + `
	layer { name: "silence" type: "Silence" bottom: "a" }` + conv3x3("x", "s", "8", "") + classifier, 0},
		{"pooled first", images + conv3x3("x", "a", "16", "") + reluA + pool + conv3x3("p", "s", "8", "") + classifier, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plain := buildWith(t, tt.text, func(o *Options) { o.Device.Force.Family = shape.Winograd4 })
			n := buildWith(t, tt.text, func(o *Options) { o.Device.Force.Family, o.Economise = shape.Winograd4, true })
			if got := n.joined(); got != tt.want {
				t.Fatalf("%d ReLU layers are computed by others, want %d", got, tt.want)
			}
			compareRuns(t, n, plain)
			n.SetDebugInfo(true)
			if got := n.joined(); got > 0 {
				t.Fatalf("%d ReLU layers are computed by others for debug_info", got)
			}
			compareRuns(t, n, plain)
		})
	}
}

// joined returns the number of passes of layers that neighbours may do.
func (n *Net) joined() int {
	joined := 0
	for _, t := range n.plan.Tasks {
		joined += t.Joined()
	}
	return joined
}
