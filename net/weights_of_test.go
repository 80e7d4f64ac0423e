package net

import (
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// TestWeightsOf: a net with the weights of another has no memory of its own for them, computes what the other computes, and is an error where the
// other lacks a weight.
func TestWeightsOf(t *testing.T) {
	const text = `layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 3 dim: 5 dim: 5 } } }
layer { name: "c" type: "Convolution" bottom: "x" top: "c" convolution_param { num_output: 4 kernel_size: 3 weight_filler { type: "gaussian" std: 1 } bias_filler { value: 2 } } }
layer { name: "p" type: "PReLU" bottom: "c" top: "c" }
layer { name: "w" type: "Parameter" top: "w" parameter_param { shape { dim: 2 dim: 4 dim: 3 dim: 3 } } }
layer { name: "s" type: "Eltwise" bottom: "c" bottom: "w" top: "s" }
layer { name: "y" type: "InnerProduct" bottom: "s" top: "y" inner_product_param { num_output: 2 weight_filler { type: "xavier" } } }`
	state := MergeState(caffepb.Phase_TEST)
	of, err := New(parse(t, text), Options{State: state, Device: device(t)})
	if err != nil {
		t.Fatal(err)
	}
	for i := range of.Params("w")[0].Data() {
		of.Params("w")[0].Data()[i] = float32(i)
	}
	n, err := New(parse(t, text), Options{State: state, Device: device(t), Economise: true, ForwardOnly: true, WeightsOf: of})
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range n.Learnable() {
		if unsafe.SliceData(w.Blob.Data()) != unsafe.SliceData(of.Learnable()[i].Blob.Data()) {
			t.Errorf("weight %d of layer %s is not that of the other net", w.Index, w.Layer)
		}
	}
	for _, m := range []*Net{of, n} {
		for i := range m.Blob("x").Data() {
			m.Blob("x").Data()[i] = float32(i%7) - 3
		}
		if _, err := m.Forward(); err != nil {
			t.Fatal(err)
		}
	}
	if want, got := of.Blob("y").Data(), n.Blob("y").Data(); !slices.Equal(got, want) {
		t.Errorf("it computes %v, the other net %v", got, want)
	}
	more := text + "\n" + `layer { name: "z" type: "Scale" bottom: "y" top: "z" }`
	_, err = New(parse(t, more), Options{State: state, Device: device(t), WeightsOf: of})
	if err == nil || !strings.Contains(err.Error(), `layer "z"`) || !strings.Contains(err.Error(), "no param 0") {
		t.Errorf("a layer that the other net lacks: %v", err)
	}
}
