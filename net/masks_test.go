package net

import (
	"math"
	"testing"
)

// unpooled is a small encoder and decoder like SegNet's: an Upsample layer and an Unpooling layer put values back where Pooling layers'
// masks say, and there are weights before both Pooling layers.
const unpooled = `
layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 2 dim: 12 dim: 8 } } }
layer { name: "down1" type: "Convolution" bottom: "x" top: "down1" convolution_param { num_output: 4 kernel_size: 3 pad: 1 weight_filler { type: "xavier" } } }
layer { name: "pool1" type: "Pooling" bottom: "down1" top: "pool1" top: "mask1" pooling_param { pool: MAX kernel_size: 2 stride: 2 } }
layer { name: "down2" type: "Convolution" bottom: "pool1" top: "down2" convolution_param { num_output: 4 kernel_size: 3 pad: 1 weight_filler { type: "xavier" } } }
layer { name: "pool2" type: "Pooling" bottom: "down2" top: "pool2" top: "mask2" pooling_param { pool: MAX kernel_size: 2 stride: 2 } }
layer { name: "back2" type: "Unpooling" bottom: "pool2" bottom: "mask2" top: "back2" unpooling_param { unpool: MAX kernel_size: 2 stride: 2 unpool_h: 6 unpool_w: 4 } }
layer { name: "up2" type: "Convolution" bottom: "back2" top: "up2" convolution_param { num_output: 4 kernel_size: 3 pad: 1 weight_filler { type: "xavier" } } }
layer { name: "back1" type: "Upsample" bottom: "up2" bottom: "mask1" top: "back1" upsample_param { scale: 2 } }
layer { name: "up1" type: "Convolution" bottom: "back1" top: "up1" convolution_param { num_output: 3 kernel_size: 3 pad: 1 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "Reduction" bottom: "up1" top: "loss" loss_weight: 1 reduction_param { operation: SUMSQ } }
`

// TestMasksAreConstants: a net with masks trains though weights lie before them. Its gradient is the derivative of the loss, and sharing
// memory changes no bit.
func TestMasksAreConstants(t *testing.T) {
	build := func(economise bool) *Net {
		n := buildWith(t, unpooled, func(o *Options) { o.Economise = economise })
		x := n.Blob("x").Data()
		for i := range x {
			x[i] = float32(i*i*7%101)/50 - 1
		}
		return n
	}
	sameRuns(t, build(true), build(false))

	n := build(false)
	if _, err := n.ForwardBackward(); err != nil {
		t.Fatal(err)
	}
	w, squares := n.Learnable()[0].Blob, 0.0 // those of down1, which lie before both masks
	slope := append([]float32(nil), w.Diff()...)
	for _, v := range slope {
		squares += float64(v) * float64(v)
	}
	if squares == 0 {
		t.Fatal("the first layer's weights have no gradient")
	}
	step := 1e-3 / math.Sqrt(squares)
	loss := func(sign float64) float64 {
		for i, v := range slope {
			w.Data()[i] += float32(sign * step * float64(v))
		}
		v, err := n.ForwardBackward()
		if err != nil {
			t.Fatal(err)
		}
		return float64(v)
	}
	above := loss(1)
	below := loss(-2)
	if got, want := (above-below)/(2*step), squares; math.Abs(got-want) > 0.01*want {
		t.Errorf("along its gradient the loss has the slope %g, the gradient's square is %g", got, want)
	}
}
