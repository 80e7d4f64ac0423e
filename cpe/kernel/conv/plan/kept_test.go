package plan_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// TestKeptWeights: while Arrays.Fixed stays, kernels that keep packed weights do not read W again; when it changes or is 0 they do. Results have the
// bits of runs that pack anew.
func TestKeptWeights(t *testing.T) {
	keep := 0
	for _, s := range []shape.Conv{
		convtest.Shape2D(2, 48, 80, 1, 15, 14, 1, 1, 1, 0, 1),
		convtest.Shape2D(2, 528, 544, 1, 14, 13, 1, 1, 1, 0, 1), // otherwise packed by who multiplies
		convtest.Shape2D(2, 3, 48, 1, 17, 16, 5, 5, 2, 0, 1),
		convtest.Shape2D(8, 32, 32, 1, 28, 28, 3, 3, 1, 1, 1),
		convtest.Shape2D(2, 32, 64, 2, 16, 11, 5, 5, 1, 2, 1),
	} {
		for _, groups := range []int{1, 3} {
			t.Run(fmt.Sprint(s, groups), func(t *testing.T) {
				c, err := plan.New(kerneltest.HostMachine(t, groups), s, shape.Auto)
				if err != nil {
					t.Fatal(err)
				}
				in, out := c.Blocks()
				if err := c.SetLayouts(conv.InBlocks(in), conv.InBlocks(out)); err != nil {
					t.Fatal(err)
				}
				x, w := kerneltest.Values(s.N*s.C*tiling.Size(s.In), 1), kerneltest.Values(s.Out*s.Depth(), 2)
				run := func(fixed uint64) []float32 {
					y := make([]float32, s.N*s.Out*tiling.Size(s.OutSize()))
					if err := c.Run(shape.Forward, conv.Arrays{X: x, W: w, Y: y, Fixed: fixed}); err != nil {
						t.Fatal(err)
					}
					return y
				}
				before := run(0)
				if !slices.Equal(run(1), before) {
					t.Error("weights that are kept give other results")
				}
				copy(w, kerneltest.Values(len(w), 3))
				after := run(0)
				if got := run(1); slices.Equal(got, before) {
					keep++
				} else if !slices.Equal(got, after) {
					t.Error("neither old nor new weights are used")
				}
				if !slices.Equal(run(2), after) || !slices.Equal(run(2), after) || slices.Equal(before, after) {
					t.Error("new weights are not used")
				}
			})
		}
	}
	if keep < 8 {
		t.Errorf("%d of 10 kernels keep weights", keep)
	}
}
