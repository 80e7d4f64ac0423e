package plan_test

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

// TestForwardFinish: kernels of Winograd's strategies and of vectors of channels finish each result in blocks once, after the last sum, with the
// block of channels that it belongs to, also in groups, at the images' edges, with dilation and with many weights.
func TestForwardFinish(t *testing.T) {
	finished := 0
	for _, s := range []shape.Conv{
		convtest.Shape2D(2, 16, 32, 1, 12, 13, 3, 3, 1, 1, 1),
		convtest.Shape2D(2, 3, 48, 1, 23, 24, 11, 11, 4, 0, 1),
		convtest.Shape2D(2, 32, 64, 2, 6, 11, 5, 5, 1, 2, 1),
		convtest.Shape2D(2, 16, 32, 1, 17, 15, 3, 3, 1, 1, 2),
		convtest.Shape2D(1, 416, 400, 1, 4, 5, 3, 3, 1, 1, 1),
		convtest.Shape2D(3, 40, 32, 1, 8, 8, 3, 3, 1, 1, 1),
	} {
		for _, groups := range []int{1, 3} {
			m := kerneltest.HostMachine(t, groups)
			spec := m.Spec()
			for _, st := range shape.Strategies {
				if !convtest.Has(&spec, s, st, shape.Forward) && st != shape.Auto {
					continue
				}
				c, err := plan.New(m, s, st)
				if err != nil {
					t.Fatal(err)
				}
				if _, out := c.Blocks(); !out {
					continue
				}
				if err := c.SetLayouts(shape.Planes, shape.Blocks); err != nil {
					t.Fatal(err)
				}
				if !c.Does(shape.Forward, op.Post) {
					continue
				}
				finished++
				t.Run(fmt.Sprint(st, s, groups), func(t *testing.T) { finishes(t, c, s) })
			}
		}
	}
	if finished < 12 {
		t.Errorf("only %d kernels finish their results", finished)
	}
}

func finishes(t *testing.T, c *plan.Conv, s shape.Conv) {
	x, w, bias := kerneltest.Values(s.N*s.C*tiling.Size(s.In), 1), kerneltest.Values(s.Out*s.Depth(), 2), kerneltest.Values(s.Out, 3)
	want := make([]float32, s.N*s.Out*tiling.Size(s.OutSize()))
	y := slices.Clone(want)
	if err := c.Run(shape.Forward, conv.Arrays{X: x, W: w, Bias: bias, Y: want}); err != nil {
		t.Fatal(err)
	}
	err := c.Run(shape.Forward, conv.Arrays{X: x, W: w, Bias: bias, Y: y, Finish: func(y []float32, _, block int) {
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
			t.Fatalf("%s: value %d is %g, want %g", c.Algorithm(shape.Forward), i, y[i], v)
		}
	}
}
