package net

import (
	"math"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

const precisionNet = `
	layer { name: "bn" type: "BatchNorm" bottom: "x" top: "n" }
	layer { name: "a" type: "Convolution" bottom: "n" top: "a" convolution_param { num_output: 48 kernel_size: 1 weight_filler { type: "msra" } bias_filler { type: "gaussian" } } }
	layer { name: "relu" type: "ReLU" bottom: "a" top: "a" }
	layer { name: "b" type: "Convolution" bottom: "a" top: "b" convolution_param { num_output: 64 kernel_size: 1 stride: 2 weight_filler { type: "msra" } } }
	layer { name: "ip" type: "InnerProduct" bottom: "b" top: "ip" inner_product_param { num_output: 37 weight_filler { type: "msra" } bias_filler { type: "gaussian" } } }
	layer { name: "prob" type: "Softmax" bottom: "ip" top: "prob" }`

// rounding builds a net for Forward alone whose products round factors to bfloat16, on some core groups.
func rounding(t *testing.T, groups int) *Net {
	spec, err := cpe.Load("host")
	if err != nil {
		t.Fatal(err)
	}
	spec.CoreGroups = groups
	d := deviceOf(t, spec.RoundingFactors())
	return foldNet(t, precisionNet, func(o *Options) { o.Device = d })
}

// TestRoundedNet: a net of rounded factors computes nearly what it computes in float32, with the same bits on any number of core groups, and its weights are
// then the rounded ones.
func TestRoundedNet(t *testing.T) {
	plain := foldNet(t, precisionNet, nil)
	want := forwards(t, plain)
	first := forwards(t, rounding(t, 1))
	for groups := 1; groups <= 3; groups++ {
		n := rounding(t, groups)
		got := forwards(t, n)
		if !slices.Equal(got, first) {
			t.Errorf("%d core groups: other bits than on one", groups)
		}
		if slices.Equal(got, want) {
			t.Error("no factor was rounded")
		}
		for i, v := range got {
			if math.Abs(float64(v-want[i])) > 0.01 {
				t.Fatalf("value %d is %g, %g in float32", i, v, want[i])
			}
		}
		ip := n.Params("ip")[0].Data()
		for i, v := range plain.Params("ip")[0].Data() {
			if ip[i] != vec.BFloat16(v) {
				t.Fatalf("weight %d is %g, was %g", i, ip[i], v)
			}
		}
	}
}

// forwards returns the results of three passes over different images.
func forwards(t *testing.T, n *Net) (all []float32) {
	t.Helper()
	for range 3 {
		if _, err := n.Forward(); err != nil {
			t.Fatal(err)
		}
		all = append(all, n.Blob("prob").Data()...)
	}
	return all
}
