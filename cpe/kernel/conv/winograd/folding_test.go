package winograd_test

import (
	"math"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/winograd"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/testkit/racing"
)

// foldedShapes are convolutions with strides whose kernels fold to such of 3x3 or 5x5.
var foldedShapes = []shape.Conv{
	convtest.Shape2D(2, 3, 20, 1, 23, 24, 11, 11, 4, 0, 1), // AlexNet's first layer, but for extents
	convtest.Shape2D(2, 3, 32, 1, 31, 27, 11, 11, 4, 2, 1), // padding that is no multiple of strides
	convtest.Shape2D(1, 2, 5, 1, 9, 10, 12, 12, 4, 7, 1),   // padding beyond strides, and images smaller than kernels
	convtest.Shape2D(3, 17, 35, 1, 13, 11, 5, 5, 2, 2, 1),  // slices of which the last is not whole
	convtest.Shape2D(2, 12, 10, 2, 16, 13, 6, 6, 2, 1, 1),  // groups
	convtest.Shape2D(2, 4, 4, 4, 15, 15, 9, 9, 2, 4, 1),    // depthwise; kernels of 5
	convtest.Shape2D(2, 5, 7, 1, 20, 23, 8, 8, 3, 3, 1),    // neighbours on a line that are channels of two slices
	convtest.Shape2D(16, 2, 6, 1, 13, 14, 9, 9, 3, 1, 1),   // weights' gradient image by image
	convtest.Shape2D(1, 2, 3, 1, 25, 301, 5, 5, 2, 1, 1),   // lines of more than one patch
	convtest.Shape2D(1, 104, 390, 1, 8, 9, 6, 6, 2, 1, 1),  // weights so many that they stay in L2
	{N: 2, C: 3, Out: 18, Group: 1, In: []int{17, 16}, Kernel: []int{5, 8}, Stride: []int{2, 3}, Pad: []int{1, 2}, Dilation: []int{1, 1}},
	{N: 2, C: 3, Out: 18, Group: 1, In: []int{9, 26}, Kernel: []int{3, 15}, Stride: []int{1, 5}, Pad: []int{2, 0}, Dilation: []int{1, 1}},
}

// TestFolded: with every form of Winograd's that there is for them, convolutions with strides are as exact forward and for the weights'
// gradient as those without, and the number of core groups changes no bit, nor do results in blocks of channels.
func TestFolded(t *testing.T) {
	for _, s := range racing.Few(foldedShapes) {
		want := convtest.NewCase(s, convtest.Normal)
		convtest.EachWinograd(winograd.FoldedShape(s), func(st shape.Strategy) {
			t.Run(st.String()+" "+s.String(), func(t *testing.T) {
				first := foldedResults(t, 1, s, st, want)
				for what, sums := range map[int]struct {
					want  []float64
					terms int
				}{0: {want.WantY, len(want.W) / s.Out}, 1: {want.WantDW, len(want.DY) / s.Out}} {
					if e := convtest.RelativeError(first[what], sums.want, sums.terms); !(e < convtest.WinogradErrors[st]) {
						t.Errorf("result %d: relative error %.2g, want less than %g", what, e, convtest.WinogradErrors[st])
					}
				}
				for _, groups := range []int{2, 5} {
					for i, got := range foldedResults(t, groups, s, st, want) {
						if !slices.Equal(got, first[i]) {
							t.Errorf("result %d differs with %d core groups", i, groups)
						}
					}
				}
			})
		})
	}
}

// foldedResults are results, the weights' gradient added to what was there, and set, and that of the biases, of results by planes and, if these
// can lie so, in blocks.
func foldedResults(t *testing.T, groups int, s shape.Conv, st shape.Strategy, want *convtest.Case) (list [4][]float32) {
	t.Helper()
	c, err := plan.New(kerneltest.HostMachine(t, groups), s, st)
	if err != nil {
		t.Fatal(err)
	}
	if got := convtest.StrategiesOf(c); got[shape.Forward] != st || got[shape.WeightGradient] != st || got[shape.InputGradient].IsWinograd() {
		t.Fatalf("strategies %v", got)
	}
	in, out := c.Blocks()
	if in {
		t.Fatal("images may lie in blocks")
	}
	for _, blocked := range []bool{false, true} {
		if blocked && !out {
			continue
		}
		if err := c.SetLayouts(shape.Planes, shape.InBlocks(blocked)); err != nil {
			t.Fatal(err)
		}
		lying := want.LaidOut(s, [2]bool{false, blocked})
		y, _ := lying.Run(t, c)
		if blocked {
			shape.FromBlocks(y, slices.Clone(y), s.N*s.Out, convtest.Volume(s.OutSize()))
		}
		dw, set := slices.Clone(want.DW), make([]float32, len(want.DW))
		if err := c.Run(shape.WeightGradient, conv.Arrays{X: lying.X, DY: lying.DY, DW: dw, Add: true}); err != nil {
			t.Fatal(err)
		}
		if !c.Does(shape.WeightGradient, op.SumBiases) {
			t.Fatal("biases' gradient does not come with the weights'")
		}
		db := slices.Clone(want.Bias)
		for i := range set {
			set[i] = float32(math.NaN())
		}
		if err := c.Run(shape.WeightGradient, conv.Arrays{X: lying.X, DY: lying.DY, DW: set, DB: db}); err != nil {
			t.Fatal(err)
		}
		kerneltest.Near(t, "db", db, want.BiasGrads(s), len(want.DY)/s.Out)
		for i, v := range set {
			if dw[i] != want.DW[i]+v {
				t.Fatalf("dw[%d]: %g is set, of %g is made %g", i, v, want.DW[i], dw[i])
			}
		}
		got := [4][]float32{y, dw, set, db}
		for i := range got {
			if blocked && !slices.Equal(got[i], list[i]) {
				t.Errorf("result %d differs in blocks", i)
			}
		}
		list = got
	}
	return list
}

// TestFoldedReadsWhatItMeets: pixels behind those that the last results meet reach no result, whatever they are.
func TestFoldedReadsWhatItMeets(t *testing.T) {
	s := convtest.Shape2D(1, 3, 16, 1, 25, 24, 11, 11, 4, 0, 1)
	const met = 3*4 + 11
	x, y, dw := convtest.Normal(s.C*tiling.Size(s.In), 1), make([]float32, s.Out*16), make([]float32, s.Out*s.Depth())
	for i := range x {
		if i/24%25 >= met || i%24 >= met {
			x[i] = float32(math.NaN())
		}
	}
	c, err := plan.New(kerneltest.HostMachine(t, 2), s, shape.Winograd)
	if err != nil {
		t.Fatal(err)
	}
	if !convtest.StrategiesOf(c)[shape.Forward].IsWinograd() || !convtest.StrategiesOf(c)[shape.WeightGradient].IsWinograd() {
		t.Fatalf("strategies %v", convtest.StrategiesOf(c))
	}
	if err := c.Run(shape.Forward, conv.Arrays{X: x, W: convtest.Normal(len(dw), 2), Y: y}); err != nil {
		t.Fatal(err)
	}
	if err := c.Run(shape.WeightGradient, conv.Arrays{X: x, DY: convtest.Normal(len(y), 3), DW: dw, Add: true}); err != nil {
		t.Fatal(err)
	}
	for _, v := range append(y, dw...) {
		if v != v {
			t.Fatal("NaN")
		}
	}
}

// TestFoldedStrategy: AlexNet's first layer and a wide one of many channels are folded on the host; the first layers of ResNet and GoogLeNet,
// for which there are no maps, 3x3 kernels with strides and the images' gradient are not, nor is anything on a model.
func TestFoldedStrategy(t *testing.T) {
	if isa.Lanes() == 0 {
		t.Skip("the model's figures are those of machines with vectors")
	}
	folds := [3]shape.Strategy{shape.Winograd5, shape.Winograd5, shape.Explicit}
	for _, c := range []struct {
		s    shape.Conv
		want [3]shape.Strategy
	}{
		{convtest.Shape2D(32, 3, 96, 1, 227, 227, 11, 11, 4, 0, 1), folds},
		{convtest.Shape2D(16, 96, 256, 1, 55, 55, 5, 5, 2, 1, 1), [3]shape.Strategy{shape.Winograd4, shape.Winograd4, shape.Implicit}},
		{convtest.Shape2D(8, 3, 64, 1, 224, 224, 7, 7, 2, 3, 1), [3]shape.Strategy{shape.Implicit, shape.Implicit, shape.Explicit}},
		{convtest.Shape2D(8, 128, 128, 1, 56, 56, 3, 3, 2, 1, 1), [3]shape.Strategy{shape.Implicit, shape.Implicit, shape.Implicit}},
		{convtest.Shape2D(8, 64, 64, 64, 56, 56, 5, 5, 2, 2, 1), [3]shape.Strategy{shape.Implicit, shape.Implicit, shape.Implicit}},
	} {
		spec := kerneltest.HostSpec(t)
		if got := convtest.StrategiesFor(t, &spec, c.s, shape.Auto); got != c.want {
			t.Errorf("%v: strategies %v, want %v", c.s, got, c.want)
		}
	}
	c, err := plan.New(kerneltest.Machine(t, "sw26010", true), convtest.Shape2D(2, 3, 96, 1, 43, 43, 11, 11, 4, 0, 1), shape.Winograd)
	if err != nil {
		t.Fatal(err)
	}
	for d, st := range convtest.StrategiesOf(c) {
		if st.IsWinograd() {
			t.Errorf("%v on a model: %v", shape.Direction(d), st)
		}
	}
}
