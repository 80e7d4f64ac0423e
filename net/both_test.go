package net

import (
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// manyImages has a batch large enough for convolutions to compute both gradients together.
var manyImages = strings.NewReplacer("dim: 3 dim: 3", "dim: 18 dim: 3", "dim: 3 }", "dim: 18 }").Replace(images)

// inParts returns the number of tasks whose Backward runs in parts.
func (n *Net) inParts() (parted int) {
	for _, t := range n.plan.Tasks {
		if t.Parted() {
			parted++
		}
	}
	return parted
}

// part lets every task's Backward run in parts if it can. In a net that economises it also changes the memory plan.
func (n *Net) part() {
	for _, t := range n.plan.Tasks {
		t.Part()
	}
}

// TestGradientsTogether: convolutions that compute both gradients at once give the bits of those that run in parts. Covered are nets that
// economise, shared weights, frozen weights, a ReLU layer before, and no bottom gradient.
func TestGradientsTogether(t *testing.T) {
	first := conv3x3("x", "a", "16", "") + reluA
	for name, text := range map[string]string{
		"in a row":              first + conv3x3("a", "b", "32", "") + conv3x3("b", "s", "16", "bias_term: false"),
		"blobs by planes":       conv3x3("x", "b", "7", "") + conv3x3("b", "s", "5", ""),
		"two bottoms":           first + conv3x3("x", "b", "16", "") + strings.NewReplacer(`bottom: "a" top: "s"`, `bottom: "a" bottom: "b" top: "c" top: "d"`).Replace(conv3x3("a", "s", "16", "")) + eltwise("s", "c", "d"),
		"fixed weights":         first + fixed(conv3x3("a", "s", "16", ""), 0, 1),
		"fixed biases":          first + fixed(conv3x3("a", "s", "16", ""), 1, 0),
		"shared weights":        first + shared(conv3x3("a", "b", "16", "")) + shared(conv3x3("b", "s", "16", "")),
		"a gradient for images": "force_backward: true" + first + conv3x3("a", "s", "16", ""),
	} {
		t.Run(name, func(t *testing.T) {
			build := func(economise bool) *Net {
				return buildWith(t, manyImages+text+classifier, func(o *Options) { o.Device.Force.Family, o.Economise = shape.Winograd4, economise })
			}
			n, plain := build(true), build(false)
			if got := n.inParts(); got != 0 {
				t.Fatalf("Backward of %d layers runs in parts", got)
			}
			plain.part()
			sameRuns(t, n, plain)
		})
	}
}

func eltwise(top, a, b string) string {
	return `layer { name: "sum" type: "Eltwise" bottom: "` + a + `" bottom: "` + b + `" top: "` + top + `" }`
}

// fixed gives a convolution's weights and biases learning-rate multipliers.
func fixed(conv string, weights, biases int) string {
	rate := map[int]string{0: "param { lr_mult: 0 } ", 1: "param { lr_mult: 1 } "}
	return strings.Replace(conv, "convolution_param", rate[weights]+rate[biases]+"convolution_param", 1)
}

// shared gives a convolution weights that other layers share.
func shared(conv string) string {
	return strings.Replace(conv, "convolution_param", `param { name: "w" } convolution_param`, 1)
}

// TestGradientsTogetherInOtherBatches: the batch size may change whether gradients are computed together, although memory was planned for
// the first batch.
func TestGradientsTogetherInOtherBatches(t *testing.T) {
	for _, first := range []string{"18", "4"} {
		text := `layer { name: "x" type: "Input" top: "x" input_param { shape { dim: ` + first + ` dim: 3 dim: 9 dim: 7 } } }` +
			conv3x3("x", "a", "16", "") + reluA + conv3x3("a", "b", "16", "") + conv3x3("b", "c", "32", "") +
			`layer { name: "loss" type: "Reduction" bottom: "c" top: "loss" loss_weight: 1 reduction_param { operation: SUMSQ } }`
		build := func(economise bool) *Net {
			return buildWith(t, text, func(o *Options) { o.Device.Force.Family, o.Economise = shape.Winograd4, economise })
		}
		n, plain := build(true), build(false)
		plain.part()
		sameRunsInBatches(t, n, plain)
	}
}

// TestGradientsAndPoolingTogether: convolutions with bottom gradients are fused with pooling and give the bits of separate layers. Covered
// are nets that economise, ReLU layers before, between and after, both layouts, and frozen parameters.
func TestGradientsAndPoolingTogether(t *testing.T) {
	conv := conv3x3("x", "y", "16", "") + reluOf("y")
	second := strings.Replace(conv3x3("y", "a", "16", ""), `name: "a"`, `name: "conv"`, 1)
	for _, tt := range []struct {
		name, text string
		want       int
	}{
		{"a pool", conv + second + poolA, 2},
		{"a ReLU layer between", conv + second + reluA + poolA, 3},
		{"a ReLU layer behind", conv + second + poolA + reluS, 3},
		{"by planes", conv + strings.Replace(second, "16", "7", 1) + poolA, 2},
		{"in blocks", conv + second + strings.Replace(poolA, `top: "s"`, `top: "b"`, 1) + conv3x3("b", "s", "16", ""), 2},
		{"fixed biases", conv + fixed(second, 1, 0) + poolA, 2},
		{"fixed parameters", conv + fixed(second, 0, 0) + poolA, 2},
		{"fixed before", fixed(conv, 0, 0) + second + poolA, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			build := func(economise bool) *Net {
				return buildWith(t, manyImages+tt.text+classifier, func(o *Options) { o.Device.Force.Family, o.Economise = shape.Winograd4, economise })
			}
			n := build(true)
			if got := n.together(); got != tt.want {
				t.Fatalf("%d layers are computed together, want %d", got, tt.want)
			}
			sameRuns(t, n, build(false))
		})
	}
}

// reluOf returns an in-place ReLU layer.
func reluOf(b string) string {
	return `layer { name: "relu of ` + b + `" type: "ReLU" bottom: "` + b + `" top: "` + b + `" }`
}

// TestGradientsAndPoolingInOtherBatches is TestGradientsTogetherInOtherBatches with pooling.
func TestGradientsAndPoolingInOtherBatches(t *testing.T) {
	text := `layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 18 dim: 3 dim: 9 dim: 7 } } }` +
		conv3x3("x", "y", "16", "") + strings.Replace(conv3x3("y", "a", "16", ""), `name: "a"`, `name: "conv"`, 1) + reluA + poolA + conv3x3("s", "c", "16", "") +
		`layer { name: "loss" type: "Reduction" bottom: "c" top: "loss" loss_weight: 1 reduction_param { operation: SUMSQ } }`
	build := func(economise bool) *Net {
		return buildWith(t, text, func(o *Options) { o.Device.Force.Family, o.Economise = shape.Winograd4, economise })
	}
	n, plain := build(true), build(false)
	if got := n.together(); got != 3 {
		t.Fatalf("%d layers are computed together", got)
	}
	sameRunsInBatches(t, n, plain)
}

// sameRunsInBatches fails the test unless two nets compute the same bits for a series of batch sizes and extents.
func sameRunsInBatches(t *testing.T, n, plain *Net) {
	t.Helper()
	for _, extents := range [][]int{{18, 3, 9, 7}, {4, 3, 9, 7}, {1, 3, 60, 50}, {16, 3, 3, 3}, {33, 3, 9, 7}, {18, 3, 9, 7}} {
		for _, n := range []*Net{n, plain} {
			x := n.Blob("x")
			x.Reshape(extents...)
			for j := range x.Data() {
				x.Data()[j] = float32(j*j%37)/18 - 1
			}
			n.ClearParamDiffs()
		}
		sameRuns(t, n, plain)
		plain.ClearParamDiffs()
	}
}
