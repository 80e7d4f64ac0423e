package net

import (
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// manyImages are as many as convolutions need to compute both gradients together.
var manyImages = strings.NewReplacer("dim: 3 dim: 3", "dim: 18 dim: 3", "dim: 3 }", "dim: 18 }").Replace(images)

// inParts is the number of layers whose Backward runs in parts.
func (n *Net) inParts() (parted int) {
	for _, t := range n.plan.Tasks {
		if t.Parted() {
			parted++
		}
	}
	return parted
}

// part makes Backward run in parts wherever there are any; of a net that economises, memory is planned otherwise.
func (n *Net) part() {
	for _, t := range n.plan.Tasks {
		t.Part()
	}
}

// TestGradientsTogether: convolutions that compute both gradients at once give the bits of those that do it in parts, in the memory of a net
// that economises, with weights that others share or that are not trained, behind a ReLU layer, and where no gradient goes on.
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
				return buildWith(t, manyImages+text+classifier, func(o *Options) { o.Device.Strategy, o.Economise = shape.Winograd4, economise })
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

// fixed gives a convolution's weights and biases learning rates.
func fixed(conv string, weights, biases int) string {
	rate := map[int]string{0: "param { lr_mult: 0 } ", 1: "param { lr_mult: 1 } "}
	return strings.Replace(conv, "convolution_param", rate[weights]+rate[biases]+"convolution_param", 1)
}

// shared gives a convolution weights that others have too.
func shared(conv string) string {
	return strings.Replace(conv, "convolution_param", `param { name: "w" } convolution_param`, 1)
}

// TestGradientsTogetherInOtherBatches: whether gradients are computed together may change with the size of a batch, while memory stays as it
// was planned for the first.
func TestGradientsTogetherInOtherBatches(t *testing.T) {
	for _, first := range []string{"18", "4"} {
		text := `layer { name: "x" type: "Input" top: "x" input_param { shape { dim: ` + first + ` dim: 3 dim: 9 dim: 7 } } }` +
			conv3x3("x", "a", "16", "") + reluA + conv3x3("a", "b", "16", "") + conv3x3("b", "c", "32", "") +
			`layer { name: "loss" type: "Reduction" bottom: "c" top: "loss" loss_weight: 1 reduction_param { operation: SUMSQ } }`
		build := func(economise bool) *Net {
			return buildWith(t, text, func(o *Options) { o.Device.Strategy, o.Economise = shape.Winograd4, economise })
		}
		n, plain := build(true), build(false)
		plain.part()
		sameRunsInBatches(t, n, plain)
	}
}

// TestGradientsAndPoolingTogether: convolutions that pass gradients on are computed together with the pooling of their results, with the bits
// of the layers one by one, in the memory of a net that economises, behind a ReLU layer and with one between or behind, in blocks of channels
// and by planes, and with parameters that are not trained.
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
				return buildWith(t, manyImages+tt.text+classifier, func(o *Options) { o.Device.Strategy, o.Economise = shape.Winograd4, economise })
			}
			n := build(true)
			if got := n.together(); got != tt.want {
				t.Fatalf("%d layers are computed together, want %d", got, tt.want)
			}
			sameRuns(t, n, build(false))
		})
	}
}

// reluOf is a ReLU layer in place.
func reluOf(b string) string {
	return `layer { name: "relu of ` + b + `" type: "ReLU" bottom: "` + b + `" top: "` + b + `" }`
}

// TestGradientsAndPoolingInOtherBatches: as TestGradientsTogetherInOtherBatches.
func TestGradientsAndPoolingInOtherBatches(t *testing.T) {
	text := `layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 18 dim: 3 dim: 9 dim: 7 } } }` +
		conv3x3("x", "y", "16", "") + strings.Replace(conv3x3("y", "a", "16", ""), `name: "a"`, `name: "conv"`, 1) + reluA + poolA + conv3x3("s", "c", "16", "") +
		`layer { name: "loss" type: "Reduction" bottom: "c" top: "loss" loss_weight: 1 reduction_param { operation: SUMSQ } }`
	build := func(economise bool) *Net {
		return buildWith(t, text, func(o *Options) { o.Device.Strategy, o.Economise = shape.Winograd4, economise })
	}
	n, plain := build(true), build(false)
	if got := n.together(); got != 3 {
		t.Fatalf("%d layers are computed together", got)
	}
	sameRunsInBatches(t, n, plain)
}

// sameRunsInBatches: two nets compute the same bits in batches and extents of many sizes, one after the other.
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
