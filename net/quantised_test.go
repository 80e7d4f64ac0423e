package net

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// quantisedNet has every kind of quantised layer: strides, dilation, groups, one channel a group, three axes, kernels without padding, one pixel; with scales of
// weights for each channel, for all, and none.
const quantisedNet = `
	layer { name: "a" type: "Convolution" bottom: "x" top: "a" convolution_param { num_output: 40 kernel_size: 3 pad: 1 weight_filler { type: "msra" } bias_filler { type: "gaussian" } }
		quantization_param { input_scale: 0.02 input_zero_point: 121 } }
	layer { name: "relu" type: "ReLU" bottom: "a" top: "a" }
	layer { name: "b" type: "Convolution" bottom: "a" top: "b" convolution_param { num_output: 64 group: 4 kernel_h: 3 kernel_w: 2 stride: 2 dilation: 2 pad_h: 1 pad_w: 3 weight_filler { type: "msra" } bias_term: false }
		quantization_param { input_scale: 0.01 weight_scale: 0.01 } }
	layer { name: "sig" type: "Sigmoid" bottom: "b" top: "s" }
	layer { name: "c" type: "DepthwiseConvolution" bottom: "s" top: "c" convolution_param { num_output: 64 kernel_size: 3 pad: 1 weight_filler { type: "msra" } bias_filler { type: "gaussian" } }
		quantization_param { input_scale: 0.004 input_zero_point: 3 } }
	layer { name: "d" type: "Convolution" bottom: "c" top: "d" convolution_param { num_output: 32 kernel_size: 1 weight_filler { type: "msra" } }
		quantization_param { input_scale: 0.02 input_zero_point: 128 } }
	layer { name: "ip" type: "InnerProduct" bottom: "d" top: "ip" inner_product_param { num_output: 37 weight_filler { type: "msra" } bias_filler { type: "gaussian" } }
		quantization_param { input_scale: 0.03 input_zero_point: 100 } }
	layer { name: "turned" type: "InnerProduct" bottom: "ip" top: "t" inner_product_param { num_output: 5 transpose: true weight_filler { type: "msra" } }
		quantization_param { input_scale: 0.03 input_zero_point: 100 weight_scale: [0.01, 0.02, 0.03, 0.01, 0.007] } }
	layer { name: "prob" type: "Softmax" bottom: "t" top: "prob" }`

// quantised builds a net for inference in a precision, with all blobs in their places if it is plain.
func quantised(t *testing.T, net string, groups int, engine layers.Engine, precision string, plain bool) *Net {
	t.Helper()
	spec, err := cpe.Load("host")
	if err != nil {
		t.Fatal(err)
	}
	if spec, err = spec.WithPrecision(precision); err != nil {
		t.Fatal(err)
	}
	spec.CoreGroups = groups
	d := deviceOf(t, spec)
	d.Engine = engine
	return foldNet(t, net, func(o *Options) {
		if o.Device = d; plain {
			plainly(o)
		}
	})
}

// TestQuantisedNet: the tiled path has the bits of the reference in every layer before Softmax, on any number of core groups; layers of the net in int8 differ
// from those in fp32, and its weights are then the rounded ones.
func TestQuantisedNet(t *testing.T) {
	blobs := []string{"a", "b", "c", "d", "ip", "t"}
	run := func(n *Net) (all [][]float32) {
		for _, name := range blobs {
			n.Blob(name)
		}
		for range 2 {
			if _, err := n.Forward(); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range blobs {
			all = append(all, slices.Clone(n.Blob(name).Data()))
		}
		return all
	}
	want := run(quantised(t, quantisedNet, 1, layers.MPE, cpe.INT8, false))
	plain := run(quantised(t, quantisedNet, 1, layers.MPE, cpe.FP32, false))
	for i := range blobs {
		if slices.Equal(want[i], plain[i]) {
			t.Errorf("%s: nothing was rounded", blobs[i])
		}
	}
	for groups := 1; groups <= 5; groups++ {
		n := quantised(t, quantisedNet, groups, layers.CPE, cpe.INT8, false)
		for i, got := range run(n)[:2] { // Sigmoid's bits differ between the paths
			if k := firstDifference(got, want[i]); k >= 0 {
				t.Fatalf("%d core groups, %s: value %d is %g, want %g", groups, blobs[i], k, got[k], want[i][k])
			}
		}
	}
	for name, exact := range map[string]string{"c": "s", "d": "c", "ip": "d", "turned": "ip"} {
		compareLayer(t, name, exact)
	}
}

func firstDifference(a, b []float32) int {
	for i, v := range a {
		if v != b[i] {
			return i
		}
	}
	return -1
}

// compareLayer runs a layer of both paths on the same bottom.
func compareLayer(t *testing.T, layer, bottom string) {
	nets := [2]*Net{quantised(t, quantisedNet, 1, layers.MPE, cpe.INT8, true), quantised(t, quantisedNet, 3, layers.CPE, cpe.INT8, true)}
	r := rand.New(rand.NewPCG(7, 8))
	x := make([]float32, nets[0].Blob(bottom).Count())
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	var tops [2][]float32
	for k, n := range nets {
		for i := range n.NumLayers() {
			if n.LayerName(i) != layer {
				continue
			}
			copy(n.Blob(bottom).Data(), x)
			if err := n.Layer(i).Forward(n.Bottoms(i), n.Tops(i)); err != nil {
				t.Fatal(err)
			}
			tops[k] = n.Tops(i)[0].Data()
		}
	}
	if k := firstDifference(tops[1], tops[0]); k >= 0 || len(tops[0]) == 0 {
		t.Fatalf("%s: value %d of %d differs", layer, k, len(tops[0]))
	}
}

// TestPrecisionOfLayers: a layer's own precision is above that of the machine's user, and this above the net's.
func TestPrecisionOfLayers(t *testing.T) {
	const scales = "quantization_param { input_scale: 0.01 }"
	body := func(net, a, b string) string {
		return fmt.Sprintf(`%s
			layer { name: "a" type: "Convolution" bottom: "x" top: "a" convolution_param { num_output: 32 kernel_size: 1 weight_filler { type: "msra" } } %s }
			layer { name: "b" type: "Convolution" bottom: "a" top: "b" convolution_param { num_output: 32 kernel_size: 1 weight_filler { type: "msra" } } %s }`, net, a, b)
	}
	for _, c := range []struct{ net, a, b, asked, want string }{
		{"", "", "", "", "fp32 fp32"},
		{"", scales, scales, "", "fp32 fp32"},
		{"precision: INT8", scales, "", "", "int8 fp32"},
		{"precision: INT8", scales, "", "fp32", "fp32 fp32"},
		{"precision: INT8", scales, "precision: BF16", "", "int8 bf16"},
		{"precision: BF16", "", "precision: FP32", "", "bf16 fp32"},
		{"", "precision: INT8 " + scales, "", "fp32", "int8 fp32"},
		{"", "precision: BF16", scales, "int8", "bf16 int8"},
	} {
		n := quantised(t, body(c.net, c.a, c.b), 1, layers.CPE, c.asked, false)
		var got []string
		for i := range n.NumLayers() {
			if n.LayerType(i) == "Convolution" {
				got = append(got, n.Precision(i))
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestRefusedPrecision: a layer's own precision must be possible, and somebody who asks for int8 gets it.
func TestRefusedPrecision(t *testing.T) {
	conv := func(more string) string {
		return `layer { name: "a" type: "Convolution" bottom: "x" top: "a" convolution_param { num_output: 4 kernel_size: 1 } ` + more + ` }`
	}
	ip := func(more string) string {
		return `layer { name: "v" type: "DummyData" top: "v" dummy_data_param { shape { dim: 1 dim: 70000 } } }
			layer { name: "a" type: "InnerProduct" bottom: "v" top: "a" inner_product_param { num_output: 1 } quantization_param { input_scale: 1 } ` + more + ` }`
	}
	for _, c := range []struct{ net, asked, want string }{
		{conv("precision: INT8"), "", `layer "a" (Convolution): precision: INT8: it needs a quantization_param, which ` + "`swcaffe quantize`"},
		{`layer { name: "r" type: "ReLU" bottom: "x" top: "r" precision: BF16 }`, "", `layer "r" (ReLU): precision: BF16: layers of this type compute in fp32`},
		{`layer { name: "d" type: "Deconvolution" bottom: "x" top: "d" precision: INT8 convolution_param { num_output: 4 kernel_size: 1 } }`, "", "layers of this type compute in fp32 and bf16"},
		{conv("quantization_param { }"), "", "quantization_param: input_scale 0: a positive number is needed"},
		{conv("quantization_param { input_scale: 1 weight_scale: [1, 2] }"), "", "there are 2 weight_scales for 4 output channels"},
		{conv(""), "int8", "no layer has a quantization_param; `swcaffe quantize`"},
		{ip("precision: INT8"), "", "a sum of 70000 products of 255 and 127 may be 2266950000, more than the 2147483647 of int32"},
		{ip(""), "int8", ""},
	} {
		spec, err := cpe.Load("host")
		if err != nil {
			t.Fatal(err)
		}
		if spec, err = spec.WithPrecision(c.asked); err != nil {
			t.Fatal(err)
		}
		n, err := New(parse(t, foldInput+c.net), Options{State: MergeState(caffepb.Phase_TEST), ForwardOnly: true, Device: deviceOf(t, spec)})
		if err == nil {
			n.Close()
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.net, err, c.want)
		}
	}
}
