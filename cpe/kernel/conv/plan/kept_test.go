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

// TestKeptWeights: while Arrays.Fixed stays, kernels that keep packed weights do not read W again; when it changes or is nil they do. Results have the
// bits of runs that pack anew. A kernel on another number of core groups, for another number of images, multiplies with the form that the first has packed. The
// input gradient is the forward pass of a deconvolution.
func TestKeptWeights(t *testing.T) {
	keep, restore, share := map[shape.Direction]int{}, map[shape.Direction]int{}, map[shape.Direction]int{}
	for _, s := range []shape.Conv{
		convtest.Shape2D(2, 48, 80, 1, 15, 14, 1, 1, 1, 0, 1),
		convtest.Shape2D(2, 528, 544, 1, 14, 13, 1, 1, 1, 0, 1), // otherwise packed by who multiplies
		convtest.Shape2D(2, 3, 48, 1, 17, 16, 5, 5, 2, 0, 1),
		convtest.Shape2D(2, 32, 80, 1, 17, 16, 3, 2, 2, 1, 1), // its images in blocks
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
				planned := func(groups int, s shape.Conv) *plan.Conv {
					c, err := plan.New(kerneltest.HostMachine(t, groups), s, shape.Auto)
					if err != nil {
						t.Fatal(err)
					}
					only := []shape.Direction{direction}
					if err := c.Arrange(shape.Planes, shape.Planes, only); err != nil {
						t.Fatal(err)
					}
					in, out := c.Blocks()
					if err := c.Arrange(shape.InBlocks(in), shape.InBlocks(out), only); err != nil {
						t.Fatal(err)
					}
					return c
				}
				c, first, second := planned(groups, s), new(op.Weights), new(op.Weights)
				w := kerneltest.Values(s.Out*s.Depth(), 2)
				runs := func(c *plan.Conv, s shape.Conv, fixed *op.Weights) []float32 {
					images, results := s.N*s.C*tiling.Size(s.In), s.N*s.Out*tiling.Size(s.OutSize())
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
				run := func(fixed *op.Weights) []float32 { return runs(c, s, fixed) }
				before := run(nil)
				if !slices.Equal(run(first), before) {
					t.Error("weights that are kept give other results")
				}
				copy(w, kerneltest.Values(len(w), 3))
				after := run(nil)
				if got := run(first); slices.Equal(got, before) {
					keep[direction]++
				} else if !slices.Equal(got, after) {
					t.Error("neither old nor new weights are used")
				}
				for range 2 {
					if !slices.Equal(run(second), after) || slices.Equal(before, after) {
						t.Error("new weights are not used")
					}
				}
				k := c.Keeper(direction)
				if k == nil || !k.Keeps(second) {
					return
				}
				if k.Keeps(nil) || k.Keeps(new(op.Weights)) {
					t.Error("other weights count as kept")
				}
				more := s
				more.N++
				other := planned(4-groups, more)
				want := runs(other, more, nil)
				if form := k.Form(second); form != nil {
					restore[direction]++
					own := slices.Repeat([]float32{-1}, len(w))
					if form.Restore(own); !slices.Equal(own, w) {
						t.Error("restored weights are others")
					}
					if o := other.Keeper(direction); o != nil && other.Algorithm(direction) == c.Algorithm(direction) && o.Form(second) != form {
						t.Error("a kernel of the same algorithm has another form")
					}
				}
				if k := other.Keeper(direction); k != nil && k.Keeps(second) {
					share[direction]++
					own := w
					w = nil
					if !slices.Equal(runs(other, more, second), want) {
						t.Error("a form that another kernel has packed gives other results")
					}
					w = own
				}
				w = nil
				if !slices.Equal(run(second), after) {
					t.Error("weights that are kept are read again")
				}
			})
		}
	}
	if restore[shape.Forward] < 6 || restore[shape.InputGradient] < 4 {
		t.Errorf("of 14 kernels each, %d restore weights forward, and %d for the input gradient", restore[shape.Forward], restore[shape.InputGradient])
	}
	if share[shape.Forward] < 8 || share[shape.InputGradient] < 6 {
		t.Errorf("of 14 kernels each, %d share weights forward, and %d for the input gradient", share[shape.Forward], share[shape.InputGradient])
	}
	if keep[shape.Forward] < 8 || keep[shape.InputGradient] < 6 {
		t.Errorf("of 14 kernels each, %d keep weights forward, and %d for the input gradient", keep[shape.Forward], keep[shape.InputGradient])
	}
}
