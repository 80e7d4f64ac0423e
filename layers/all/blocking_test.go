package all_test

import (
	"fmt"
	"testing"

	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/layertest"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// blockCases lists layers that support channels in blocks for bottoms and tops alike, with bottoms of c channels.
func blockCases(c int) []layertest.Case {
	positive := []layertest.Fill{nil, layertest.Uniform(0.5, 2), layertest.Uniform(0.5, 2)}
	points := ""
	if c > 16 {
		points = "slice_param { slice_point: 16 }"
	}
	return []layertest.Case{
		{Type: "AbsVal"},
		{Type: "BNLL"},
		{Type: "Clip", Param: "clip_param { min: -0.5 max: 0.25 }"},
		{Type: "ELU"},
		{Type: "ELU", Name: "in place", InPlace: true},
		{Type: "Exp"},
		{Type: "Log", Param: "log_param { shift: 2 }"},
		{Type: "Power", Param: "power_param { power: 2 scale: 0.5 shift: 1 }"},
		{Type: "Power", Name: "in place", Param: "power_param { power: 2 }", InPlace: true},
		{Type: "ReLU"},
		{Type: "ReLU", Name: "in place", Param: "relu_param { negative_slope: 0.1 }", InPlace: true},
		{Type: "Sigmoid"},
		{Type: "Swish"},
		{Type: "TanH"},
		{Type: "Threshold"},
		{Type: "ReLU6"},
		{Type: "HardSigmoid"},
		{Type: "HardSwish"},
		{Type: "HardSwish", Name: "in place", InPlace: true},
		{Type: "Mish"},
		{Type: "Noise", Phase: caffepb.Phase_TEST, Param: "noise_param { gaussian_std: 1 }"},
		{Type: "Noise", Name: "none"},
		{Type: "Dropout", Phase: caffepb.Phase_TEST},
		{Type: "PReLU", Name: "channels"},
		{Type: "PReLU", Name: "channels, in place", InPlace: true},
		{Type: "PReLU", Param: "prelu_param { channel_shared: true }"},
		{Type: "PReLU", Name: "in place", Param: "prelu_param { channel_shared: true }", InPlace: true},
		{Type: "Eltwise", Name: "sum", Bottoms: make([]layertest.Bottom, 3), Param: "eltwise_param { coeff: 1 coeff: -2 coeff: 0.5 }"},
		{Type: "Eltwise", Name: "product", Bottoms: make([]layertest.Bottom, 2), Param: "eltwise_param { operation: PROD }"},
		{Type: "Eltwise", Name: "maximum", Bottoms: make([]layertest.Bottom, 2), Param: "eltwise_param { operation: MAX }"},
		{Type: "BatchNorm", NoParams: []int{0, 1, 2}, Weights: positive},
		{Type: "BatchNorm", Name: "in place", NoParams: []int{0, 1, 2}, Weights: positive, InPlace: true},
		{Type: "BatchNorm", Name: "stored statistics", NoParams: []int{0, 1, 2}, Weights: positive, Phase: caffepb.Phase_TEST},
		{Type: "Bias"},
		{Type: "Bias", Name: "in place", InPlace: true},
		{Type: "Scale"},
		{Type: "Scale", Name: "with bias", Param: "scale_param { bias_term: true }"},
		{Type: "Scale", Name: "in place with bias", Param: "scale_param { bias_term: true }", InPlace: true},
		{Type: "Pooling", Param: "pooling_param { kernel_size: 3 stride: 2 pad: 1 }"},
		{Type: "Pooling", Name: "means", Param: "pooling_param { pool: AVE kernel_size: 3 pad: 1 }"},
		{Type: "Pooling", Name: "mean", Param: "pooling_param { pool: AVE global_pooling: true }"},
		{Type: "LRN", Param: "lrn_param { alpha: 0.7 }"},
		{Type: "LRN", Name: "other power", Param: "lrn_param { local_size: 3 alpha: 2 beta: 0.6 k: 1.5 }"},
		{Type: "Split", Tops: 2},
		{Type: "Concat", Bottoms: make([]layertest.Bottom, 3)},
		{Type: "Concat", Name: "one bottom"},
		{Type: "Slice", Tops: c / 16},
		{Type: "Slice", Name: "unevenly", Tops: min(2, c/16), Param: points},
	}
}

// blockShapes have odd planes or single pixels.
var blockShapes = [][]int{{1, 16, 7, 5}, {3, 48, 7, 5}, {3, 16, 1, 1}, {1, 48, 1, 1}, {2, 64, 9, 40}}

func TestLayersInBlocks(t *testing.T) {
	b := layertest.NewBench(t)
	for _, shape := range blockShapes {
		for _, c := range blockCases(shape[1]) {
			t.Run(fmt.Sprint(&c, shape), func(t *testing.T) {
				if len(c.Bottoms) == 0 {
					c.Bottoms = make([]layertest.Bottom, 1)
				}
				for i := range c.Bottoms {
					c.Bottoms[i].Shape = shape
					c.Again = append(c.Again, []int{2, shape[1], 3, 4})
				}
				if err := layertest.CheckBlocks(b, &c); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestWhoeverTakesBlocksIsTested: every type with a case that supports blocks is covered by TestLayersInBlocks. No type supports blocks on
// a path or machine without them.
func TestWhoeverTakesBlocksIsTested(t *testing.T) {
	tested := map[string]bool{}
	for _, c := range blockCases(16) {
		tested[c.Type] = true
	}
	b := layertest.NewBench(t)
	places := []struct {
		name   string
		device *layers.Device
		able   bool
	}{
		{"CPE path", b.Device(layers.CPE), true},
		{"MPE path", b.Device(layers.MPE), false},
		{"model", fuseDevice(t, "sw26010"), false},
	}
	for _, c := range cases {
		if c.Files != nil {
			continue
		}
		for _, where := range places {
			f, err := layertest.New(where.device, &c)
			if err != nil {
				t.Fatal(err)
			}
			can := layers.TraitsOf(f.Layer).Layout
			if can == (layers.Blocking{}) {
				continue
			}
			if !where.able {
				t.Errorf("%s takes blocks of channels on the %s", &c, where.name)
			}
			if !tested[c.Type] && can.Alike {
				t.Errorf("%s takes blocks of channels, but no test has it do so", &c)
			}
		}
	}
}

// TestNoBlocks: layers refuse blocks for channels that do not fill whole blocks, and for operations along other axes.
func TestNoBlocks(t *testing.T) {
	b := layertest.NewBench(t)
	in := func(shapes ...[]int) (bottoms []layertest.Bottom) {
		for _, s := range shapes {
			bottoms = append(bottoms, layertest.In(s...))
		}
		return bottoms
	}
	for _, c := range []layertest.Case{
		{Type: "Concat", Name: "half a block", Bottoms: in([]int{2, 16, 3, 3}, []int{2, 8, 3, 3})},
		{Type: "Concat", Name: "images", Bottoms: in([]int{2, 16, 3, 3}, []int{2, 16, 3, 3}), Param: "concat_param { axis: 0 }"},
		{Type: "Concat", Name: "rows", Bottoms: in([]int{2, 16, 16, 3}, []int{2, 16, 16, 3}), Param: "concat_param { axis: 2 }"},
		{Type: "Concat", Name: "three axes", Bottoms: in([]int{2, 16, 3}, []int{2, 16, 3})},
		{Type: "Slice", Name: "half a block", Bottoms: in([]int{2, 16, 3, 3}), Tops: 2},
		{Type: "Slice", Name: "uneven", Bottoms: in([]int{2, 48, 3, 3}), Tops: 2, Param: "slice_param { slice_point: 24 }"},
		{Type: "Slice", Name: "columns", Bottoms: in([]int{2, 16, 3, 32}), Tops: 2, Param: "slice_param { axis: 3 }"},
		{Type: "Dropout", Bottoms: in([]int{2, 16, 3, 3}), Phase: caffepb.Phase_TRAIN},
		{Type: "LRN", Name: "wide windows", Bottoms: in([]int{2, 16, 3, 3}), Param: "lrn_param { local_size: 7 }"},
		{Type: "LRN", Name: "within a channel", Bottoms: in([]int{2, 16, 3, 3}), Param: "lrn_param { norm_region: WITHIN_CHANNEL }"},
		{Type: "PReLU", Name: "half a block", Bottoms: in([]int{2, 8, 3, 3})},
		{Type: "PReLU", Name: "three axes", Bottoms: in([]int{2, 16, 3})},
		{Type: "BatchNorm", Name: "half a block", Bottoms: in([]int{2, 24, 3, 3})},
		{Type: "BatchNorm", Name: "three axes", Bottoms: in([]int{2, 16, 3})},
		{Type: "Scale", Name: "half a block", Bottoms: in([]int{2, 8, 3, 3})},
		{Type: "Scale", Name: "rows", Bottoms: in([]int{2, 16, 16, 3}), Param: "scale_param { axis: 2 }"},
		{Type: "Scale", Name: "channels and rows", Bottoms: in([]int{2, 16, 16, 3}), Param: "scale_param { num_axes: 2 }"},
		{Type: "Scale", Name: "second bottom", Bottoms: in([]int{2, 16, 3, 3}, []int{16})},
		{Type: "MVN", Bottoms: in([]int{2, 16, 3, 3})},
	} {
		can, err := layertest.Blocks(b, &c)
		if err != nil {
			t.Fatal(err)
		}
		if can != (layers.Blocking{}) {
			t.Errorf("%s with bottoms %v takes blocks of channels: %+v", &c, c.Bottoms, can)
		}
		f := layertest.Build(t, b, layers.CPE, c)
		if layertest.LayOut(f.Layer, true, true) == nil {
			t.Errorf("%s with bottoms %v was told to take blocks of channels, and said nothing", &c, c.Bottoms)
		}
	}
}

// TestShapesInBlocksAreRefused: a layer arranged in blocks returns an error for a new bottom shape that blocks cannot hold.
func TestShapesInBlocksAreRefused(t *testing.T) {
	b := layertest.NewBench(t)
	for _, c := range []layertest.Case{
		{Type: "BatchNorm"}, {Type: "Scale"}, {Type: "Bias"}, {Type: "Concat"}, {Type: "Slice"},
	} {
		c.Bottoms = []layertest.Bottom{layertest.In(2, 32, 3, 5)}
		if c.Type == "Concat" {
			c.Bottoms = append(c.Bottoms, c.Bottoms[0])
		}
		if c.Type == "Slice" {
			c.Tops = 2
		}
		f := layertest.Build(t, b, layers.CPE, c)
		if err := layertest.LayOut(f.Layer, true, true); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			for _, bottom := range f.Bottom {
				bottom.Reshape(2, 32, 15)
			}
			if err := f.Layer.Reshape(f.Bottom, f.Top); err == nil {
				t.Errorf("%s: blobs of three axes lie in blocks of channels", &c)
			}
		}
		for _, bottom := range f.Bottom {
			bottom.Reshape(2, 32, 3, 5)
		}
		if err := f.Layer.Reshape(f.Bottom, f.Top); err != nil {
			t.Errorf("%s: %v", &c, err)
		}
	}
}
