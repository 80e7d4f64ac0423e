package net

import (
	"slices"
	"strings"
	"testing"
)

// inverted has two blocks as MobileNetV2's: 1x1, depthwise and 1x1 convolutions, the second with a sum behind them. The hidden images of the first take 3.2 MB for one
// image of 112 x 112 pixels.
var inverted = `
	layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 16 dim: 112 dim: 112 } } }` +
	conv("stem", "x", "stem", "num_output: 16 kernel_size: 3 pad: 1") +
	conv("a", "stem", "a", "num_output: 64 kernel_size: 1") + clampIn("a") + conv("b", "a", "b", "num_output: 64 group: 64 kernel_size: 3 pad: 1") + clampIn("b") +
	conv("c", "b", "c", "num_output: 16 kernel_size: 1") +
	conv("d", "c", "d", "num_output: 48 kernel_size: 1") + clampIn("d") + conv("e", "d", "e", "num_output: 48 group: 48 kernel_size: 3 pad: 1 stride: 2") + reluIn("e") +
	conv("f", "e", "f", "num_output: 16 kernel_size: 1") + `
	layer { name: "pool" type: "Pooling" bottom: "f" top: "pool" pooling_param { pool: AVE global_pooling: true } }`

func clampIn(name string) string {
	return `layer { name: "` + name + `6" type: "ReLU6" bottom: "` + name + `" top: "` + name + `" }`
}

// followed lists the layers that are computed together with a depthwise one.
func (n *Net) followed() (names []string) {
	for _, note := range n.Passes() {
		if note.Pass == "follow" {
			names = append(names, note.Layers[0])
		}
	}
	return names
}

// TestFollow: a depthwise convolution computes the 1x1 convolution before it, with the bits of both alone, for several shapes one after the other, also once blobs
// between the two have been asked for.
func TestFollow(t *testing.T) {
	for _, groups := range []int{1, 3} {
		plain := inPrecision(t, inverted, "fp32", groups, func(o *Options) { o.Without = []string{"follow"} })
		n := inPrecision(t, inverted, "fp32", groups, nil)
		if got := n.followed(); !slices.Equal(got, []string{"a", "d"}) {
			t.Fatalf("%q are followed", got)
		}
		same := func(what string) {
			t.Helper()
			for _, images := range [][]int{{1, 16, 112, 112}, {2, 16, 61, 90}, {1, 16, 5, 7}, {3, 16, 112, 112}} {
				if got, want := poolOf(t, n, images...), poolOf(t, plain, images...); !slices.Equal(got, want) {
					t.Fatalf("%s, images %v: %v, want %v", what, images, got[:4], want[:4])
				}
			}
		}
		same("at first")
		if at := n.plan.Memory.Total; at >= plain.plan.Memory.Total {
			t.Errorf("the arena has %d values, without the pass %d", at, plain.plan.Memory.Total)
		}
		hidden, want := n.Blob("a"), plain.Blob("a")
		if got := n.followed(); !slices.Equal(got, []string{"d"}) {
			t.Errorf("with a asked for, %q are followed", got)
		}
		same("with a asked for")
		if !slices.Equal(hidden.Data(), want.Data()) {
			t.Error("the blob asked for differs")
		}
	}
	if n := inPrecision(t, inverted, "bf16", 1, nil); len(n.followed()) > 0 {
		t.Errorf("in bfloat16 %q are followed", n.followed())
	}
	if n := inPrecision(t, strings.Replace(inverted, `bottom: "b" top: "c"`, `bottom: "b" bottom: "a" top: "c" top: "more"`, 1), "fp32", 1, nil); slices.Contains(n.followed(), "a") {
		t.Error("a is followed although another layer reads it")
	}
}
