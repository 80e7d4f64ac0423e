package net

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// heads are layers that can apply the layers behind them to their results, from blob "t" to blob "h".
var heads = map[string]string{
	"Convolution":    `layer { name: "h" type: "Convolution" bottom: "t" top: "h" convolution_param { num_output: OUTPUTS kernel_size: 3 pad: 1 weight_filler { type: "msra" } } }`,
	"strided":        `layer { name: "h" type: "Convolution" bottom: "t" top: "h" convolution_param { num_output: OUTPUTS kernel_size: 2 stride: 2 group: 2 weight_filler { type: "msra" } } }`,
	"Deconvolution":  `layer { name: "h" type: "Deconvolution" bottom: "t" top: "h" convolution_param { num_output: OUTPUTS kernel_size: 2 stride: 2 weight_filler { type: "msra" } bias_filler { type: "gaussian" } } }`,
	"without biases": `layer { name: "h" type: "Deconvolution" bottom: "t" top: "h" convolution_param { num_output: OUTPUTS kernel_size: 2 bias_term: false weight_filler { type: "msra" } } }`,
	"InnerProduct":   `layer { name: "h" type: "InnerProduct" bottom: "t" top: "h" inner_product_param { num_output: OUTPUTS weight_filler { type: "msra" } } }`,
	"of axis 2":      `layer { name: "h" type: "InnerProduct" bottom: "t" top: "h" inner_product_param { axis: 2 num_output: 7 weight_filler { type: "msra" } } }`,
	"product":        `layer { name: "h" type: "Eltwise" bottom: "t" bottom: "x" top: "h" eltwise_param { operation: PROD } }`,
	"maximum":        `layer { name: "h" type: "Eltwise" bottom: "t" bottom: "x" top: "h" eltwise_param { operation: MAX } }`,
	"difference":     `layer { name: "h" type: "Eltwise" bottom: "t" bottom: "x" top: "h" eltwise_param { coeff: 1 coeff: -2 } }`,
	"Scale":          `layer { name: "h" type: "Scale" bottom: "t" top: "h" scale_param { bias_term: true filler { type: "gaussian" } bias_filler { type: "gaussian" } } }`,
	"BatchNorm":      `layer { name: "h" type: "BatchNorm" bottom: "t" top: "h" }`,
	"both":           `layer { name: "n" type: "BatchNorm" bottom: "t" top: "n" } layer { name: "h" type: "Scale" bottom: "n" top: "h" scale_param { filler { type: "gaussian" } } }`,
}

// TestStepsOfEveryHead: every layer with Joins.Finish applies every activation behind it, in blocks and in planes, where only Forward runs, and in
// training where the activation works in place and keeps nothing. Results, losses and gradients are those of the separate layers.
func TestStepsOfEveryHead(t *testing.T) {
	acts := []string{
		`type: "ReLU"`, `type: "ReLU" relu_param { negative_slope: 0.1 }`, `type: "PReLU"`, `type: "PReLU" prelu_param { channel_shared: true }`,
		`type: "ELU"`, `type: "ReLU6"`, `type: "HardSwish"`, `type: "Sigmoid"`, `type: "TanH"`, `type: "Swish"`,
	}
	for name, head := range heads {
		t.Run(name, func(t *testing.T) {
			for i, act := range acts {
				channels, inPlace := []int{16, 12}[(i+len(name))%2], i%4 < 2
				text := stepsNet(strings.ReplaceAll(head, "OUTPUTS", fmt.Sprint(channels)), act, channels, inPlace)
				stepsAgree(t, fmt.Sprint(name, " and ", act, ", ", channels, " channels, in place ", inPlace), text, i)
			}
		})
	}
}

func stepsNet(head, act string, channels int, inPlace bool) string {
	out := "h"
	if !inPlace {
		out = "a"
	}
	return fmt.Sprintf(`
	layer { name: "x" type: "DummyData" top: "x" top: "y" dummy_data_param { shape { dim: 3 dim: %[1]d dim: 6 dim: 6 } shape { dim: 3 } data_filler { type: "gaussian" } data_filler { type: "constant" } } }
	layer { name: "t" type: "Convolution" bottom: "x" top: "t" convolution_param { num_output: %[1]d kernel_size: 3 pad: 1 weight_filler { type: "msra" } } }
	%[2]s
	layer { name: "act" %[3]s bottom: "h" top: %[4]q }
	layer { name: "ip" type: "InnerProduct" bottom: %[4]q top: "ip" inner_product_param { num_output: 4 weight_filler { type: "msra" } } }
	layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "y" top: "loss" }`, channels, head, act, out)
}

// stepsAgree compares a net with one of separate layers, where only Forward runs and in training.
func stepsAgree(t *testing.T, name, text string, act int) {
	t.Helper()
	if act%4 == 0 {
		n := buildWith(t, text, func(o *Options) { o.Economise = true })
		compareRuns(t, n, buildWith(t, text, func(*Options) {}))
	}
	open := func(economise bool) *Net {
		n := buildWith(t, text, func(o *Options) {
			o.State, o.Economise, o.ForwardOnly, o.Without = MergeState(caffepb.Phase_TEST), economise, true, []string{"fold"}
		})
		n.fillStatistics()
		return n
	}
	n, plain := open(true), open(false)
	for i, d := range n.plan.Tasks {
		if n.nodes[i].param.GetName() == "act" && d.Joined() == 0 && !d.Empty() {
			t.Errorf("%s: no layer does the activation's work", name)
		}
	}
	for _, m := range []*Net{n, plain} {
		if _, err := m.Forward(); err != nil {
			t.Fatal(err)
		}
	}
	got, want := n.Outputs()[0].Blob.Data(), plain.Outputs()[0].Blob.Data()
	if math.Abs(float64(got[0]-want[0])) > 1e-6 { // pieces of functions with vec.Affine may round otherwise
		t.Errorf("%s: loss %g, that of separate layers is %g", name, got, want)
	}
}

// TestStepsInTraining: activations in place that keep nothing are computed by the layer before them in training too, if their bits do not depend on
// how an array is cut.
func TestStepsInTraining(t *testing.T) {
	for act, want := range map[string]int{`type: "ReLU" relu_param { negative_slope: 0.1 }`: 1, `type: "Sigmoid"`: 1, `type: "ELU"`: 0, `type: "PReLU"`: 0} {
		n := buildWith(t, stepsNet(strings.ReplaceAll(heads["Convolution"], "OUTPUTS", "16"), act, 16, true), func(o *Options) { o.Economise = true })
		if got := n.joined(); got != want {
			t.Errorf("%s: %d layers are computed by others, want %d", act, got, want)
		}
	}
}
