package winograd_test

import (
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/testkit/racing"
)

var dilatedShapes = []shape.Conv{
	convtest.Shape2D(1, 4, 4, 1, 9, 9, 3, 3, 1, 2, 2),
	convtest.Shape2D(2, 5, 7, 1, 7, 9, 3, 3, 1, 0, 2),     // sub-grids of different extents
	convtest.Shape2D(1, 17, 33, 1, 13, 11, 3, 3, 1, 4, 4), // more of them than columns of tiles
	convtest.Shape2D(1, 2, 3, 1, 5, 6, 3, 3, 1, 5, 5),     // and with a pixel or two
	convtest.Shape2D(1, 2, 3, 1, 5, 4, 3, 3, 1, 9, 3),     // padding for the input gradient is negative
	convtest.Shape2D(3, 40, 26, 2, 14, 15, 3, 3, 1, 2, 2),
	convtest.Shape2D(1, 2, 3, 1, 9, 331, 3, 3, 1, 2, 2), // lines of more than one patch
	convtest.Shape2D(2, 18, 36, 1, 28, 28, 3, 3, 1, 2, 2),
	convtest.Shape2D(1, 390, 410, 1, 9, 10, 3, 3, 1, 4, 4), // weights so many that they stay in L2
	convtest.Shape2D(17, 16, 16, 1, 8, 8, 3, 3, 1, 2, 2),   // both gradients of undilated ones would be computed together
	convtest.Shape2D(2, 9, 8, 1, 21, 22, 5, 5, 1, 6, 3),
	{N: 1, C: 4, Out: 5, Group: 1, In: []int{16, 23}, Kernel: []int{3, 3}, Stride: []int{1, 1}, Pad: []int{1, 3}, Dilation: []int{1, 3}},
	{N: 1, C: 4, Out: 5, Group: 1, In: []int{15, 7}, Kernel: []int{5, 5}, Stride: []int{1, 1}, Pad: []int{4, 1}, Dilation: []int{2, 1}},
}

// TestWinogradDilated: sub-grids of pixels are convolved as undilated images are, with the same bits on any number of core groups; a model does
// not have that.
func TestWinogradDilated(t *testing.T) {
	for _, s := range racing.Few(dilatedShapes) {
		if convtest.Long(s) {
			continue
		}
		want := convtest.NewCase(s, convtest.Normal)
		convtest.EachWinograd(s, func(st shape.Strategy) {
			t.Run(st.String()+" "+s.String(), func(t *testing.T) {
				var first [3][]float32
				for _, groups := range kerneltest.GroupCounts() {
					m := kerneltest.HostMachine(t, groups)
					convtest.CompareWinograd(t, m, s, st, want)
					c, err := plan.New(m, s, st)
					if err != nil {
						t.Fatal(err)
					}
					y, dx := want.Run(t, c)
					got := [3][]float32{shape.Forward: y, shape.InputGradient: dx, shape.WeightGradient: slices.Clone(want.DW)}
					if err := c.Run(shape.WeightGradient, conv.Arrays{X: want.X, DY: want.DY, DW: got[shape.WeightGradient], Add: true}); err != nil {
						t.Fatal(err)
					}
					for d := range got {
						if first[d] != nil && !slices.Equal(got[d], first[d]) {
							t.Errorf("%v differs with %d core groups", shape.Direction(d), groups)
						}
					}
					first = got
				}
			})
		})
		rejectsWinograd(t, kerneltest.Machine(t, "sw26010", false), s)
	}
}

// TestDilatedHostStrategy: sub-grids with many pixels are Winograd's, those with hardly any are not.
func TestDilatedHostStrategy(t *testing.T) {
	if isa.Lanes() == 0 {
		t.Skip("the model's figures are those of machines with vectors")
	}
	spec := kerneltest.HostSpec(t)
	for _, c := range []struct {
		s        shape.Conv
		winograd bool
	}{
		{convtest.Shape2D(8, 128, 128, 1, 28, 28, 3, 3, 1, 2, 2), true},
		{convtest.Shape2D(8, 128, 128, 1, 28, 28, 3, 3, 1, 4, 4), true},
		{convtest.Shape2D(8, 128, 128, 1, 28, 28, 3, 3, 1, 27, 27), false},
	} {
		for d, st := range convtest.StrategiesFor(t, &spec, c.s, shape.Auto) {
			if st.IsWinograd() != c.winograd {
				t.Errorf("%v, %v: %v", c.s, shape.Direction(d), st)
			}
		}
	}
}
