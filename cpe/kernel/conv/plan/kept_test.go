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
// bits of runs that pack anew. The input gradient is the forward pass of a deconvolution.
func TestKeptWeights(t *testing.T) {
	keep, unpack := map[shape.Direction]int{}, map[shape.Direction]int{}
	for _, s := range []shape.Conv{
		convtest.Shape2D(2, 48, 80, 1, 15, 14, 1, 1, 1, 0, 1),
		convtest.Shape2D(2, 528, 544, 1, 14, 13, 1, 1, 1, 0, 1), // otherwise packed by who multiplies
		convtest.Shape2D(2, 3, 48, 1, 17, 16, 5, 5, 2, 0, 1),
		convtest.Shape2D(8, 32, 32, 1, 28, 28, 3, 3, 1, 1, 1),
		convtest.Shape2D(2, 32, 64, 2, 16, 11, 5, 5, 1, 2, 1),
		convtest.Shape2D(33, 16, 32, 1, 9, 12, 5, 5, 1, 0, 1), // few pixels and many images
	} {
		for _, variant := range []struct {
			shape.Direction
			groups int
		}{{shape.Forward, 1}, {shape.Forward, 3}, {shape.InputGradient, 1}, {shape.InputGradient, 3}} {
			t.Run(fmt.Sprint(s, variant), func(t *testing.T) {
				direction, groups := variant.Direction, variant.groups
				c, err := plan.New(kerneltest.HostMachine(t, groups), s, shape.Auto)
				if err != nil {
					t.Fatal(err)
				}
				in, out := c.Blocks()
				if err := c.SetLayouts(shape.InBlocks(in), shape.InBlocks(out)); err != nil {
					t.Fatal(err)
				}
				w := kerneltest.Values(s.Out*s.Depth(), 2)
				images, results := s.N*s.C*tiling.Size(s.In), s.N*s.Out*tiling.Size(s.OutSize())
				run := func(fixed uint64) []float32 {
					a := conv.Arrays{W: w, Fixed: fixed, X: kerneltest.Values(images, 1), Y: make([]float32, results)}
					result := a.Y
					if direction == shape.InputGradient {
						a.X, a.Y, a.DY, a.DX = nil, nil, kerneltest.Values(results, 1), make([]float32, images)
						result = a.DX
					}
					if err := c.Run(direction, a); err != nil {
						t.Fatal(err)
					}
					return result
				}
				before := run(0)
				if !slices.Equal(run(1), before) {
					t.Error("weights that are kept give other results")
				}
				copy(w, kerneltest.Values(len(w), 3))
				after := run(0)
				if got := run(1); slices.Equal(got, before) {
					keep[direction]++
				} else if !slices.Equal(got, after) {
					t.Error("neither old nor new weights are used")
				}
				for range 2 {
					if !slices.Equal(run(2), after) || slices.Equal(before, after) {
						t.Error("new weights are not used")
					}
				}
				k := c.Keeper(direction)
				if k == nil || !k.Keeps(2) {
					return
				}
				if k.Keeps(0) || k.Keeps(1) {
					t.Error("other weights count as kept")
				}
				if k.Unpacks() {
					unpack[direction]++
					own := slices.Repeat([]float32{-1}, len(w))
					if k.Unpack(own); !slices.Equal(own, w) {
						t.Error("unpacked weights are others")
					}
				}
				w = nil
				if !slices.Equal(run(2), after) {
					t.Error("weights that are kept are read again")
				}
			})
		}
	}
	if unpack[shape.Forward] < 6 || unpack[shape.InputGradient] < 4 {
		t.Errorf("of 12 kernels each, %d unpack weights forward, and %d for the input gradient", unpack[shape.Forward], unpack[shape.InputGradient])
	}
	if keep[shape.Forward] < 8 || keep[shape.InputGradient] < 6 {
		t.Errorf("of 12 kernels each, %d keep weights forward, and %d for the input gradient", keep[shape.Forward], keep[shape.InputGradient])
	}
}
