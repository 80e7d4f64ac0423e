package net

import (
	"slices"
	"testing"
)

const (
	wideTrunk = `
	layer { name: "data" type: "DummyData" top: "x" top: "label" dummy_data_param {
		shape { dim: 3 dim: 16 dim: 9 dim: 12 } shape { dim: 3 }
		data_filler { type: "gaussian" } data_filler { type: "constant" value: 2 } } }` + branches
	branches = `
	layer { name: "t" type: "Convolution" bottom: "x" top: "t" convolution_param { num_output: 256 kernel_size: 1 weight_filler { type: "msra" } } }
	layer { name: "b" type: "Convolution" bottom: "t" top: "b" convolution_param { num_output: 256 kernel_size: 1 weight_filler { type: "msra" } } }`
	joins = `
	layer { name: "sum" type: "Eltwise" top: "m" bottom: "t" bottom: "b" }
	layer { name: "relu" type: "ReLU" bottom: "m" top: "m" }`
	fromBoth = `
	layer { name: "both" type: "Concat" bottom: "c" bottom: "d" top: "s" }`
)

// reads returns a convolution of "m".
func reads(top, more string) string {
	return `
	layer { name: "` + top + `" type: "Convolution" bottom: "m" top: "` + top + `" convolution_param { num_output: 32 ` + more + ` weight_filler { type: "msra" } } }`
}

// TestThin: images are thin if all readers are pointwise with the same strides. Losses are those of a net with whole images, gradients too
// up to rounding, whatever follows the packed pixels.
func TestThin(t *testing.T) {
	const stride2, stride3x2 = "kernel_size: 1 stride: 2", "kernel_h: 1 kernel_w: 1 stride_h: 3 stride_w: 2"
	both := []string{"m", "m_relu_0_split_0", "m_relu_0_split_1"}
	for _, tt := range []struct {
		name, text string
		thin       []string
	}{
		{"one reader", wideTrunk + normed + joins + reads("s", stride2) + classifier, []string{"m"}},
		{"two readers", wideTrunk + normed + joins + reads("c", stride2) + reads("d", stride2) + fromBoth + classifier, both},
		{"other strides", wideTrunk + normed + joins + reads("c", stride3x2) + reads("d", stride3x2) + fromBoth + classifier, both},
		{"strides along one axis", wideTrunk + normed + joins + reads("s", "kernel_h: 1 kernel_w: 1 stride_h: 1 stride_w: 2") + classifier, []string{"m"}},
		{"a reader of all", wideTrunk + normed + joins + reads("c", "kernel_size: 1") + reads("d", stride2) + `
			layer { name: "pool" type: "Pooling" bottom: "c" top: "p" pooling_param { pool: AVE kernel_size: 2 stride: 2 } }
			layer { name: "both" type: "Concat" bottom: "p" bottom: "d" top: "s" }` + classifier, nil},
		{"a kernel that reaches further", wideTrunk + normed + joins + reads("s", "kernel_size: 2 stride: 2") + classifier, nil},
		{"no sum", wideTrunk + normed + `
			layer { name: "m" type: "Convolution" bottom: "b" top: "m" convolution_param { num_output: 256 kernel_size: 1 } }` + reads("s", stride2) + classifier, nil},
		{"a loss", wideTrunk + normed + `
			layer { name: "sum" type: "Eltwise" top: "m" bottom: "t" bottom: "b" }
			layer { name: "relu" type: "ReLU" bottom: "m" top: "m" loss_weight: 0.5 }` + reads("s", stride2) + classifier, nil},
		{"stored statistics", wideTrunk + `
			layer { name: "bn" type: "BatchNorm" bottom: "b" top: "b" batch_norm_param { use_global_stats: true } }
			layer { name: "scale" type: "Scale" bottom: "b" top: "b" }` + joins + reads("s", stride2) + classifier, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := buildWith(t, tt.text, func(o *Options) { o.Economise = true })
			if got := n.Layouts().Thin; !slices.Equal(got, tt.thin) {
				t.Fatalf("thin are %q, want %q", got, tt.thin)
			}
			whole := buildWith(t, tt.text, func(o *Options) { o.Economise, o.Without = true, []string{"thin"} })
			compareRuns(t, n, whole)
			if tt.thin == nil {
				return
			}
			if n.Blob("m"); n.Layouts().Thin != nil {
				t.Errorf("%q are thin, though asked for", n.Layouts().Thin)
			}
			whole.Blob("m")
			compareRuns(t, n, whole)
			sameBits(t, "m", n.Blob("m").Data(), whole.Blob("m").Data())
		})
	}
}

// TestThinOfOtherExtents: images of another size stay thin.
func TestThinOfOtherExtents(t *testing.T) {
	text := `layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 16 dim: 9 dim: 9 } } }` +
		branches + normed + joins + reads("s", "kernel_size: 1 stride: 2")
	n := buildWith(t, text, func(o *Options) { o.Economise = true })
	whole := buildWith(t, text, func(o *Options) { o.Economise, o.Without = true, []string{"thin"} })
	for _, extents := range [][]int{{2, 16, 9, 9}, {3, 16, 14, 5}, {3, 16, 5, 14}, {1, 16, 33, 31}, {1, 16, 1, 1}} {
		var out [2][]float32
		for i, n := range []*Net{n, whole} {
			x := n.Blob("x")
			x.Reshape(extents...)
			for k := range x.Data() {
				x.Data()[k] = float32(k%37) - 18
			}
			if _, err := n.Forward(); err != nil {
				t.Fatal(err)
			}
			out[i] = n.Outputs()[0].Blob.Data()
		}
		if !slices.Equal(out[0], out[1]) {
			t.Errorf("images of %v: another result than of whole images", extents)
		}
		if !slices.Equal(n.Layouts().Thin, []string{"m"}) {
			t.Errorf("images of %v: %q are thin", extents, n.Layouts().Thin)
		}
	}
}

// TestThinNonFinite: FirstNonFinite searches the packed pixels of thin images only.
func TestThinNonFinite(t *testing.T) {
	n := buildWith(t, wideTrunk+normed+joins+reads("s", "kernel_size: 1 stride: 2")+classifier, func(o *Options) { o.Economise, o.ForwardOnly = true, true })
	if _, err := n.Forward(); err != nil {
		t.Fatal(err)
	}
	m := n.graph.Blobs[n.ids["m"]]
	const made, plane = 5 * 6 * 16, 9 * 12 * 16
	values := m.Data()
	for i := made; i < plane; i++ {
		values[i] = nan
	}
	if at, _ := n.nonFiniteTop(m); at >= 0 {
		t.Errorf("value %d, which is nobody's, is looked at", at)
	}
	last := len(values) - plane + made - 1
	values[last] = nan
	if at, v := n.nonFiniteTop(m); at != last || v == v {
		t.Errorf("value %d is no number, %d is found: %g", last, at, v)
	}
}
