package net

import (
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/net/schedule"
)

// conv3x3 returns a 3x3 convolution that keeps extents.
func conv3x3(bottom, top, outputs, more string) string {
	return `
	layer { name: "` + top + `" type: "Convolution" bottom: "` + bottom + `" top: "` + top + `" convolution_param {
		num_output: ` + outputs + ` kernel_size: 3 pad: 1 ` + more + ` weight_filler { type: "msra" } bias_filler { value: 0.1 } } }`
}

const (
	images = `
	layer { name: "data" type: "DummyData" top: "x" top: "label" dummy_data_param {
		shape { dim: 3 dim: 3 dim: 11 dim: 9 } shape { dim: 3 }
		data_filler { type: "gaussian" } data_filler { type: "constant" value: 2 } } }`
	reluA = `
	layer { name: "relu" type: "ReLU" bottom: "a" top: "a" }`
	lrnTo = `
	layer { name: "lrn" type: "LRN" top: "s" lrn_param { alpha: 0.5 local_size: 7 } bottom: `
)

var layoutTests = []struct {
	name, text string
	blocked    []string
}{
	{"a run between planes", images + conv3x3("x", "a", "16", "") + reluA + conv3x3("a", "b", "32", "") + conv3x3("b", "c", "16", "") + lrnTo + `"c" }` + classifier,
		[]string{"a", "b"}},
	{"a channel too many", images + conv3x3("x", "a", "16", "") + reluA + conv3x3("a", "b", "33", "") + conv3x3("b", "c", "16", "") + lrnTo + `"c" }` + classifier,
		[]string{"a"}},
	{"a reader that cannot", images + conv3x3("x", "a", "16", "") + lrnTo + `"a" }` + conv3x3("a", "b", "16", "") + conv3x3("b", "c", "16", "") + `
		layer { name: "join" type: "Eltwise" bottom: "s" bottom: "c" top: "e" }
		layer { name: "fc" type: "InnerProduct" bottom: "e" top: "fc" inner_product_param { num_output: 5 weight_filler { type: "xavier" } } }
		layer { name: "loss" type: "SoftmaxWithLoss" bottom: "fc" bottom: "label" top: "loss" }`,
		[]string{"b"}},
	{"groups of too few channels", images + conv3x3("x", "a", "32", "") + conv3x3("a", "b", "32", "group: 4") + conv3x3("b", "c", "16", "") + lrnTo + `"c" }` + classifier,
		nil},
	{"groups of whole blocks", images + conv3x3("x", "a", "32", "") + conv3x3("a", "b", "64", "group: 2") + conv3x3("b", "c", "16", "") + lrnTo + `"c" }` + classifier,
		[]string{"a", "b"}},
}

// TestLayouts: channels are in blocks where all readers and writers support it. Values and gradients are those of a net in planes.
func TestLayouts(t *testing.T) {
	for _, tt := range layoutTests {
		t.Run(tt.name, func(t *testing.T) {
			plain := buildWith(t, tt.text, func(o *Options) { o.Device.Force.Family = shape.Winograd4 })
			n := buildWith(t, tt.text, func(o *Options) { o.Device.Force.Family, o.Economise = shape.Winograd4, true })
			if got := n.Layouts().Blocked; !slices.Equal(got, tt.blocked) {
				t.Fatalf("in blocks lie %q, want %q", got, tt.blocked)
			}
			compareRuns(t, n, plain)
			asked := map[string]*blob.Blob{}
			for _, name := range tt.blocked {
				asked[name] = n.Blob(name)
			}
			if left := n.Layouts().Blocked; len(left) > 0 {
				t.Fatalf("%q lie in blocks, though asked for", left)
			}
			compareRuns(t, n, plain)
			for name, b := range asked {
				sameBits(t, name, b.Data(), plain.Blob(name).Data())
				near(t, name+"'s gradient", b.Diff(), plain.Blob(name).Diff())
			}
		})
	}
}

// TestLayoutsOfAskedFor: a blob in blocks is in planes after it is requested by name, with the values of the last Forward.
func TestLayoutsOfAskedFor(t *testing.T) {
	tt := layoutTests[0]
	plain := buildWith(t, tt.text, func(o *Options) { o.Device.Force.Family = shape.Winograd4 })
	n := buildWith(t, tt.text, func(o *Options) { o.Device.Force.Family, o.Economise = shape.Winograd4, true })
	for _, n := range []*Net{n, plain} {
		if _, err := n.Forward(); err != nil {
			t.Fatal(err)
		}
	}
	sameBits(t, "a", n.Blob("a").Data(), plain.Blob("a").Data())
}

func compareRuns(t *testing.T, n, plain *Net) {
	t.Helper()
	for range 2 {
		for i := range n.arena.memory {
			n.arena.memory[i] = nan
		}
		want, err := plain.ForwardBackward()
		if err != nil {
			t.Fatal(err)
		}
		if loss, err := n.ForwardBackward(); err != nil || loss != want {
			t.Fatalf("loss %g, error %v; %g where images lie by planes", loss, err, want)
		}
		for i, l := range plain.Learnable() {
			near(t, "a gradient", n.Learnable()[i].Blob.Diff(), l.Blob.Diff())
		}
		plain.ClearParamDiffs()
		n.ClearParamDiffs()
	}
}

// TestLayoutsCountTurns: a convolution converts its images and results in each of three passes, except those in blocks.
func TestLayoutsCountTurns(t *testing.T) {
	text := images + conv3x3("x", "a", "16", "") + conv3x3("a", "b", "16", "") + lrnTo + `"b" }` + classifier
	n := buildWith(t, text, func(o *Options) { o.Device.Force.Family, o.Economise = shape.Winograd4, true })
	const plane = 3 * 11 * 9
	want := schedule.Layouts{Blocked: []string{"a"}, Turns: 6, Values: 3 * (3 + 16) * plane, TurnsOfPlanes: 12, ValuesOfPlanes: 3 * (3 + 16 + 16 + 16) * plane}
	if got := n.Layouts(); !slices.Equal(got.Blocked, want.Blocked) || got.Turns != want.Turns || got.Values != want.Values ||
		got.TurnsOfPlanes != want.TurnsOfPlanes || got.ValuesOfPlanes != want.ValuesOfPlanes {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestLayoutsOfOtherExtents: images of another size keep their layout and give the results of a net built for them.
func TestLayoutsOfOtherExtents(t *testing.T) {
	const text = `layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 16 dim: 9 dim: 9 } } }`
	net := text + conv3x3("x", "a", "16", "") + conv3x3("a", "b", "16", "")
	inBlocks := buildWith(t, net, func(o *Options) { o.Device.Force.Family, o.Economise = shape.Winograd4, true })
	plain := buildWith(t, net, func(o *Options) { o.Device.Force.Family = shape.Winograd4 })
	for _, extents := range [][]int{{2, 16, 9, 9}, {3, 16, 14, 5}, {1, 16, 4, 4}} {
		var out [2][]float32
		for i, n := range []*Net{inBlocks, plain} {
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
			t.Errorf("images of %v: another result than by planes", extents)
		}
		if !slices.Equal(inBlocks.Layouts().Blocked, []string{"a"}) {
			t.Errorf("images of %v: %q lie in blocks", extents, inBlocks.Layouts().Blocked)
		}
	}
}

// TestLayoutsOfFirstLayers: a convolution of few channels reads planes and writes blocks, with any stride. A convolution with a bottom
// gradient for such images reads blocks.
func TestLayoutsOfFirstLayers(t *testing.T) {
	first := func(bottom, top, outputs string) string {
		return `
	layer { name: "` + top + `" type: "Convolution" bottom: "` + bottom + `" top: "` + top + `" convolution_param {
		num_output: ` + outputs + ` kernel_size: 5 pad: 2 stride: 2 weight_filler { type: "msra" } bias_filler { value: 0.1 } } }`
	}
	pool := `
	layer { name: "pool" type: "Pooling" bottom: "b" top: "s" pooling_param { pool: MAX kernel_size: 2 } }`
	text := images + first("x", "a", "9") + reluA + first("a", "b", "32") + pool + classifier
	plain := buildWith(t, text, func(o *Options) { o.Device.Force.Family = shape.Implicit })
	n := buildWith(t, text, func(o *Options) { o.Device.Force.Family, o.Economise = shape.Implicit, true })
	if got := n.Layouts().Blocked; !slices.Contains(got, "b") || slices.Contains(got, "a") {
		t.Fatalf("in blocks lie %q", got)
	}
	compareRuns(t, n, plain)
}
