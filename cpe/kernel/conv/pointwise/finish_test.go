package pointwise_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// TestForwardFinish: what is to be done to results is done once to every one of them, after the last sum, with the block of channels that
// it belongs to; where results do not come in blocks it cannot be asked for.
func TestForwardFinish(t *testing.T) {
	for _, s := range append(slices.Clone(blockedShapes),
		convtest.Shape2D(2, 528, 544, 1, 14, 13, 1, 1, 1, 0, 1)) { // weights packed by who multiplies them, inputs in parts
		for _, groups := range []int{1, 3} {
			m := kerneltest.HostMachine(t, groups)
			convtest.EachLayout(s, func(in, out bool) {
				t.Run(fmt.Sprint(s, groups, in, out), func(t *testing.T) {
					c, err := plan.New(m, s, shape.Auto)
					if err != nil {
						t.Fatal(err)
					}
					if err := c.SetLayouts(shape.InBlocks(in), shape.InBlocks(out)); err != nil {
						t.Fatal(err)
					}
					if can := out; c.Does(shape.Forward, op.Post) != can {
						t.Fatalf("finishes: %t, want %t", c.Does(shape.Forward, op.Post), can)
					} else if !can {
						return
					}
					x, w, bias := kerneltest.Values(s.N*s.C*tiling.Size(s.In), 1), kerneltest.Values(s.Out*s.Depth(), 2), kerneltest.Values(s.Out, 3)
					want := make([]float32, s.N*s.Out*tiling.Size(s.OutSize()))
					y := slices.Clone(want)
					if err := c.Run(shape.Forward, conv.Arrays{X: x, W: w, Bias: bias, Y: want}); err != nil {
						t.Fatal(err)
					}
					err = c.Run(shape.Forward, conv.Arrays{X: x, W: w, Bias: bias, Y: y, Finish: func(y []float32, _, block int) {
						for i := range y {
							y[i] = 3*y[i] + float32(block+1)
						}
					}})
					if err != nil {
						t.Fatal(err)
					}
					for i, v := range want {
						block := i / (shape.BlockLanes * tiling.Size(s.OutSize())) % (s.Out / shape.BlockLanes)
						if v = 3*v + float32(block+1); y[i] != v {
							t.Fatalf("value %d is %g, want %g", i, y[i], v)
						}
					}
				})
			})
		}
	}
}
