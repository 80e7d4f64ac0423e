package net

import (
	"slices"
	"strings"
	"testing"
)

// pieces has wholes in wholes, as DenseNet has, a Concat of the same blob twice, one of a blob that is read later, one of 24 channels, whose pieces are not all in whole
// blocks, a Slice whose pieces are rectified in place, and one whose bottom is read later.
var pieces = `
	layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 16 dim: 21 dim: 20 } } }` +
	conv("stem", "x", "stem", "num_output: 32 kernel_size: 3 pad: 1") + reluIn("stem") +
	conv("a", "stem", "a", "num_output: 16 kernel_size: 3 pad: 1") + joined("one", "stem", "a") +
	conv("b", "one", "b", "num_output: 16 kernel_size: 1") + reluIn("b") + joined("two", "one", "b") + reluIn("two") +
	conv("c", "two", "c", "num_output: 16 kernel_size: 1") + joined("three", "c", "two", "c") +
	conv("d", "three", "d", "num_output: 24 kernel_size: 1") + conv("e", "three", "e", "num_output: 8 kernel_size: 1") + joined("four", "d", "e") +
	conv("f", "four", "f", "num_output: 64 kernel_size: 1") + `
	layer { name: "cut" type: "Slice" bottom: "f" top: "g" top: "h" top: "i" slice_param { slice_point: 16 slice_point: 48 } }` + reluIn("g") + joined("five", "h", "g") + `
	layer { name: "pool4" type: "Pooling" bottom: "five" top: "pool4" pooling_param { kernel_size: 2 stride: 2 } }
	layer { name: "i4" type: "Pooling" bottom: "i" top: "i4" pooling_param { kernel_size: 2 stride: 2 } }` + joined("six", "pool4", "i4") +
	conv("last", "six", "last", "num_output: 16 kernel_size: 1") + conv("later", "i4", "later", "num_output: 16 kernel_size: 1") + `
	layer { name: "halves" type: "Slice" bottom: "last" top: "p" top: "q" }` + reluIn("p") + joined("seven", "p", "q") + `
	layer { name: "sum" type: "Eltwise" bottom: "last" bottom: "later" bottom: "seven" top: "sum" }
	layer { name: "pool" type: "Pooling" bottom: "sum" top: "pool" pooling_param { pool: AVE global_pooling: true } }`

func joined(name string, bottoms ...string) string {
	return `
	layer { name: "` + name + `" type: "Concat" bottom: "` + strings.Join(bottoms, `" bottom: "`) + `" top: "` + name + `" }`
}

// standing lists what the pass says of each layer.
func (n *Net) standing() (list []string) {
	for _, note := range n.Passes() {
		if note.Pass == "whole" {
			list = append(list, note.Layers[0]+" "+note.Did[:len("1 of 2")])
		}
	}
	return list
}

// TestWhole: pieces that stand in their whole give the bits of copied ones, for one image and several, and for other shapes, for which the net is planned anew or not, also once a
// piece has been asked for.
func TestWhole(t *testing.T) {
	for _, precision := range []string{"fp32", "bf16"} {
		for _, groups := range []int{1, 3} {
			plain := inPrecision(t, pieces, precision, groups, func(o *Options) { o.Without = []string{"whole"} })
			n := inPrecision(t, pieces, precision, groups, nil)
			if want := []string{"one 2 of 2", "two 2 of 2", "three 2 of 3", "four 2 of 2", "cut 3 of 3", "six 1 of 2", "seven 2 of 2"}; !slices.Equal(n.standing(), want) {
				t.Fatalf("%s: pieces stand: %q, want %q", precision, n.standing(), want)
			}
			play(t, n, false)
			same := func(what string, plan bool) {
				t.Helper()
				for _, images := range [][]int{{1, 16, 21, 20}, {1, 16, 10, 9}, {2, 16, 21, 20}, {1, 16, 21, 20}, {4, 16, 5, 10}, {1, 16, 40, 21}} {
					for _, of := range []*Net{n, plain} {
						if of.Blob("x").Reshape(images...); plan {
							if err := of.Reshape(); err != nil {
								t.Fatal(err)
							}
						}
					}
					if got, want := poolOf(t, n, images...), poolOf(t, plain, images...); !slices.Equal(got, want) {
						t.Fatalf("%s, %s, images %v: %v, want %v", precision, what, images, got[:4], want[:4])
					}
				}
			}
			same("at first", false)
			same("planned for each shape", true)
			hidden, want := n.Blob("one"), plain.Blob("one")
			same("with a whole asked for", false)
			if !slices.Equal(hidden.Data(), want.Data()) {
				t.Error("the blob asked for differs")
			}
			n.Blob("h")
			plain.Blob("h")
			same("with a piece asked for", true)
		}
	}
}
