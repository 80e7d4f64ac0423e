package net

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/layers"
)

// TestOverwrittenTop: a later layer may overwrite the top of a ReLU or ReLU6 layer in place, directly or through a view, without an effect on
// its gradient. For z = -2 relu(a) the gradient is -2 where a > 0.
func TestOverwrittenTop(t *testing.T) {
	const (
		given = `
	layer { name: "a" type: "Parameter" top: "a" parameter_param { shape { dim: 1 dim: 3 } } }
	layer { name: "b" type: "DummyData" top: "b" dummy_data_param { shape { dim: 1 dim: 3 } } }
	layer { name: "x" type: "Power" bottom: "a" top: "x" }
	layer { name: "s" type: "Power" bottom: "b" top: "s" }`
		relu = `
	layer { name: "relu" type: "ReLU" bottom: "x" top: "r" }`
		relu6 = `
	layer { name: "relu" type: "ReLU6" bottom: "x" top: "r" }`
		sum = `
	layer { name: "sum" type: "Eltwise" bottom: "x" bottom: "s" top: "x2" }
	layer { name: "relu" type: "ReLU" bottom: "x2" top: "r" }`
		norm = `
	layer { name: "norm" type: "BatchNorm" bottom: "x" top: "n" batch_norm_param { use_global_stats: true eps: 1 } }
	layer { name: "factor" type: "Scale" bottom: "n" top: "n" }
	layer { name: "sum" type: "Eltwise" bottom: "n" bottom: "s" top: "n2" }
	layer { name: "relu" type: "ReLU" bottom: "n2" top: "r" }`
		view = `
	layer { name: "view" type: "Flatten" bottom: "r" top: "v" }`
	)
	scaled := func(blob string) string {
		return fmt.Sprintf(`
	layer { name: "scale" type: "Scale" bottom: %[1]q top: %[1]q scale_param { filler { type: "constant" value: -2 } } }
	layer { name: "loss" type: "Reduction" bottom: %[1]q top: "loss" loss_weight: 1 }`, blob)
	}
	for _, tt := range []struct{ name, net string }{
		{"alone", given + relu + scaled("r")},
		{"through a view", given + relu + view + scaled("v")},
		{"ReLU6", given + relu6 + scaled("r")},
		{"of a sum", given + sum + scaled("r")},
		{"of a sum of normalised values", given + norm + scaled("r")},
	} {
		for _, engine := range []layers.Engine{layers.MPE, layers.CPE} {
			for _, economise := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %v, economise %v", tt.name, engine, economise), func(t *testing.T) {
					n := buildWith(t, tt.net, func(o *Options) { o.Device.Engine, o.Economise = engine, economise })
					a := n.Learnable()[0].Blob
					copy(a.Data(), []float32{1, -3, 5})
					if _, err := n.ForwardBackward(); err != nil {
						t.Fatal(err)
					}
					if want := []float32{-2, 0, -2}; !slices.Equal(a.Diff(), want) {
						t.Errorf("gradient %v, want %v", a.Diff(), want)
					}
				})
			}
		}
	}
}

// TestOverwrittenActivation: a layer whose gradient is computed from its top reads the values that in-place BatchNorm and Scale left there,
// whether these are fused or not. The gradients are those of BVLC Caffe 1.0.
func TestOverwrittenActivation(t *testing.T) {
	for _, tt := range []struct {
		activation   string
		want, normed []float32 // if Scale overwrites too, and if only BatchNorm does
	}{
		{`layer { name: "y" type: "Sigmoid" bottom: "x" top: "y" }`, []float32{1.797579, 0.06669736, 2.843470}, []float32{-0.2816638, -0.03075147, -0.2824397}},
		{`layer { name: "y" type: "Swish" bottom: "x" top: "y" }`, []float32{-0.5820045, -0.2354693, -1.102652}, []float32{-0.9752283, 0.03559065, -1.169132}},
		{`layer { name: "y" type: "Power" bottom: "x" top: "y" }
	layer { name: "relu" type: "ReLU" bottom: "y" top: "y" }`, []float32{0, 0, 0}, []float32{-1.1547005, 0, -1.1547005}},
		{`layer { name: "norm0" type: "BatchNorm" bottom: "x" top: "y" batch_norm_param { use_global_stats: true eps: 3 } }
	layer { name: "factor0" type: "Scale" bottom: "y" top: "y" }
	layer { name: "relu" type: "ReLU" bottom: "y" top: "y" }`, []float32{0, 0, 0}, []float32{-0.6666667, 0, -0.6666667}},
	} {
		for _, run := range []struct {
			engine layers.Engine
			top    string // Scale's top
			want   []float32
		}{{layers.MPE, "y", tt.want}, {layers.CPE, "y", tt.want}, {layers.MPE, "z", tt.normed}, {layers.CPE, "z", tt.normed}} {
			n := buildWith(t, fmt.Sprintf(`
	layer { name: "a" type: "Parameter" top: "a" parameter_param { shape { dim: 1 dim: 3 } } }
	layer { name: "x" type: "Power" bottom: "a" top: "x" }%s
	layer { name: "norm" type: "BatchNorm" bottom: "y" top: "y" batch_norm_param { use_global_stats: true eps: 3 } }
	layer { name: "factor" type: "Scale" bottom: "y" top: %[2]q scale_param { filler { type: "constant" value: -2 } } }
	layer { name: "loss" type: "Reduction" bottom: %[2]q top: "loss" loss_weight: 1 }`, tt.activation, run.top),
				func(o *Options) { o.Device.Engine, o.Economise = run.engine, true })
			a := n.Learnable()[0].Blob
			copy(a.Data(), []float32{1, -3, 5})
			if err := forwardBackward(n); err != nil {
				t.Fatal(err)
			}
			near(t, fmt.Sprintf("%s, %v, Scale makes %s", tt.activation, run.engine, run.top), a.Diff(), run.want)
		}
	}
}

// TestNormalisedSplit: in-place BatchNorm on a top of a Split layer changes the Split's bottom and other tops, which share its storage,
// also if a Scale layer could be fused with it. Gradient and loss are those of BVLC Caffe 1.0.
func TestNormalisedSplit(t *testing.T) {
	for _, engine := range []layers.Engine{layers.MPE, layers.CPE} {
		n := buildWith(t, `
	layer { name: "a" type: "Parameter" top: "a" parameter_param { shape { dim: 1 dim: 3 } } }
	layer { name: "x" type: "Power" bottom: "a" top: "x" }
	layer { name: "split" type: "Split" bottom: "x" top: "y" top: "z" }
	layer { name: "norm" type: "BatchNorm" bottom: "y" top: "y" batch_norm_param { use_global_stats: true eps: 3 } }
	layer { name: "factor" type: "Scale" bottom: "y" top: "s" scale_param { filler { type: "constant" value: -2 } } }
	layer { name: "both" type: "Eltwise" bottom: "s" bottom: "z" top: "both" }
	layer { name: "loss" type: "Reduction" bottom: "both" top: "loss" loss_weight: 1 reduction_param { operation: SUMSQ } }`,
			func(o *Options) { o.Device.Engine, o.Economise = engine, true })
		a := n.Learnable()[0].Blob
		copy(a.Data(), []float32{1, -3, 5})
		loss, err := n.ForwardBackward()
		if err != nil {
			t.Fatal(err)
		}
		near(t, engine.String(), a.Diff(), []float32{0.1786328, -0.5358984, 0.8931640})
		near(t, engine.String()+": loss", []float32{float32(loss)}, []float32{35. / 3})
	}
}

// TestNormalisedThenOverwritten: BatchNorm and Scale have Caffe's gradient if a later layer overwrites their bottom through another top of
// a Split layer. The statistics are 0 and eps is 9, so that y is 1/3 of the bottom.
func TestNormalisedThenOverwritten(t *testing.T) {
	for _, engine := range []layers.Engine{layers.MPE, layers.CPE} {
		n := buildWith(t, `
	layer { name: "a" type: "Parameter" top: "a" parameter_param { shape { dim: 1 dim: 3 } } }
	layer { name: "x" type: "Power" bottom: "a" top: "x" }
	layer { name: "split" type: "Split" bottom: "x" top: "y" top: "z" }
	layer { name: "norm" type: "BatchNorm" bottom: "y" top: "n" batch_norm_param { use_global_stats: true eps: 9 } }
	layer { name: "factor" type: "Scale" bottom: "n" top: "s" }
	layer { name: "double" type: "Scale" bottom: "z" top: "z" scale_param { filler { type: "constant" value: 2 } } }
	layer { name: "loss" type: "Reduction" bottom: "s" top: "loss" loss_weight: 1 }
	layer { name: "loss2" type: "Reduction" bottom: "z" top: "loss2" loss_weight: 1 }`,
			func(o *Options) { o.Device.Engine, o.Economise = engine, true })
		a, factors := n.Learnable()[0].Blob, n.Learnable()[4].Blob
		copy(a.Data(), []float32{1, -3, 6})
		if err := forwardBackward(n); err != nil {
			t.Fatal(err)
		}
		near(t, engine.String(), a.Diff(), []float32{7. / 3, 7. / 3, 7. / 3})
		near(t, engine.String()+": factors", factors.Diff(), []float32{1. / 3, -1, 2})
	}
}

// TestNormalisedView: BatchNorm, Scale and ReLU may run in place on a view of a layer's top. Loss and gradients are those of a net without
// in-place layers on the MPE path.
func TestNormalisedView(t *testing.T) {
	net := func(view, norm, scale, relu string) string {
		return fmt.Sprintf(images+`
	layer { name: "a" type: "InnerProduct" bottom: "x" top: "a" inner_product_param { num_output: 12 weight_filler { type: "xavier" } } }
	layer { name: "view" type: "Reshape" bottom: "a" top: "v" reshape_param { shape { %[1]s } } }
	layer { name: "norm" type: "BatchNorm" bottom: "v" top: %[2]q }
	layer { name: "scale" type: "Scale" bottom: %[2]q top: %[3]q scale_param { bias_term: true } }
	layer { name: "relu" type: "ReLU" bottom: %[3]q top: %[4]q }
	layer { name: "b" type: "InnerProduct" bottom: %[4]q top: "s" inner_product_param { num_output: 7 weight_filler { type: "xavier" } } }`+
			classifier, view, norm, scale, relu)
	}
	for _, view := range []string{"dim: 0 dim: 3 dim: 2 dim: 2", "dim: 0 dim: 2 dim: -1", "dim: 0 dim: -1"} {
		want := buildWith(t, net(view, "n", "m", "s0"), func(o *Options) { o.Device.Engine = layers.MPE })
		n := buildWith(t, net(view, "v", "v", "v"), func(o *Options) { o.Economise = true })
		for range 2 {
			loss, err := n.ForwardBackward()
			if err != nil {
				t.Fatal(err)
			}
			wantLoss, err := want.ForwardBackward()
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(loss-wantLoss) > 1e-5*wantLoss {
				t.Errorf("view of %s: loss %g, want %g", view, loss, wantLoss)
			}
			for i, l := range want.Learnable() {
				for j, g := range n.Learnable()[i].Blob.Diff() {
					if w := l.Blob.Diff()[j]; math.Abs(float64(g-w)) > 1e-5+1e-3*math.Abs(float64(w)) {
						t.Fatalf("view of %s: gradient %d of weight %d of %s is %g, want %g", view, j, l.Index, l.Layer, g, w)
					}
				}
			}
		}
	}
}
