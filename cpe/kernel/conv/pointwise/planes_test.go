package pointwise_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/base/simd/vgemm"
	"github.com/swcaffe/swcaffe/internal/testkit/alloctest"
	"github.com/swcaffe/swcaffe/internal/testkit/racing"
)

// TestPlanes: pointwise-planes computes the convolution, with the same bits on any number of core groups and at every level that has it; all results are finished once,
// whole images of them together where Finish allows it.
func TestPlanes(t *testing.T) {
	shapes := []shape.Conv{
		convtest.Shape2D(1, 240, 60, 3, 28, 28, 1, 1, 1, 0, 1), convtest.Shape2D(2, 60, 240, 3, 14, 14, 1, 1, 1, 0, 1), convtest.Shape2D(3, 240, 960, 3, 7, 7, 1, 1, 1, 0, 1),
		convtest.Shape2D(2, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1), convtest.Shape2D(2, 2, 2, 2, 1, 1, 1, 1, 1, 0, 1), convtest.Shape2D(1, 10, 5, 5, 3, 6, 1, 1, 1, 0, 1), convtest.Shape2D(1, 6, 26, 2, 4, 4, 1, 1, 1, 0, 1), convtest.Shape2D(5, 6, 10, 2, 1, 3, 1, 1, 1, 0, 1), convtest.Shape2D(1, 24, 61, 1, 56, 57, 1, 1, 1, 0, 1),
		convtest.Shape2D(2, 9, 39, 3, 5, 5, 1, 1, 1, 0, 1), convtest.Shape2D(1, 70, 14, 2, 64, 64, 1, 1, 1, 0, 1), {N: 2, C: 4, Out: 26, In: []int{3, 4, 5}, Group: 2},
		{N: 3, C: 17, Out: 5, In: []int{47}, Group: 1},
	}
	caches := [][]*cpe.Machine{kerneltest.CacheMachines(t, 1<<20), kerneltest.CacheMachines(t, 48<<10)}
	for _, s := range racing.Few(shapes) {
		if s.Kernel == nil {
			ones := tiling.Ones(len(s.In))
			s.Kernel, s.Stride, s.Dilation, s.Pad = ones, ones, ones, make([]int, len(s.In))
		}
		want := convtest.NewCase(s, kerneltest.Values)
		var first []float32
		for i, level := range racing.Few(isa.Levels()) {
			restore := isa.Use(level)
			for _, m := range caches[i%2] {
				if !vgemm.HasStrided() {
					continue
				}
				t.Run(fmt.Sprintf("%v, %s, %d core groups", s, level, m.Spec().CoreGroups), func(t *testing.T) {
					y := runPlanes(t, m, s, want)
					if first == nil {
						first = y
					}
					kerneltest.SameBits(t, "results", y, first)
				})
			}
			restore()
		}
	}
}

func runPlanes(t *testing.T, m *cpe.Machine, s shape.Conv, want *convtest.Case) []float32 {
	const name = "pointwise-planes"
	c, err := plan.NewIn(m, s, op.Force{Name: name}, op.Types{}, nil)
	if err == nil {
		err = c.Arrange(shape.Planes, shape.Planes, []shape.Direction{shape.Forward})
	}
	if err != nil {
		t.Fatal(err)
	}
	if runs := c.Algorithm(shape.Forward); runs != name {
		t.Fatalf("computed by %s", runs)
	}
	x, w := slices.Clip(want.X), slices.Clip(want.W) // nothing is read behind them
	y, pixels := make([]float32, len(want.WantY)), tiling.Size(s.In)
	run := func(a conv.Arrays) {
		t.Helper()
		for i := range y {
			y[i] = -1
		}
		a.X, a.W, a.Y = x, w, y
		if err := c.Run(shape.Forward, a); err != nil {
			t.Fatal(err)
		}
	}
	run(conv.Arrays{})
	for i, v := range y {
		y[i] = v + want.Bias[i/pixels%s.Out]
	}
	kerneltest.Near(t, "y without a bias", y, want.WantY, s.Depth()+1)
	run(conv.Arrays{Bias: want.Bias})
	kerneltest.Near(t, "y", y, want.WantY, s.Depth()+1)
	made := slices.Clone(y)
	for _, single := range []bool{false, true} {
		run(conv.Arrays{Bias: want.Bias, Floor: true, Single: single, Finish: func(piece []float32, at, channel int) {
			if &piece[0] != &y[at] || channel != at/pixels%s.Out || !single && at%pixels+len(piece) > pixels {
				t.Errorf("%d results from number %d on are said to be of channel %d", len(piece), at, channel)
			}
			for i := range piece {
				piece[i] = 2*piece[i] + 1
			}
		}})
		for i, v := range made {
			if y[i] != 2*max(v, 0)+1 {
				t.Fatalf("result %d with steps is %g, without %g", i, y[i], v)
			}
		}
	}
	if n := alloctest.PerRun(2, func() { err = c.Run(shape.Forward, conv.Arrays{X: x, W: w, Bias: want.Bias, Y: y}) }); n > 0 || err != nil {
		t.Errorf("%d allocations in a run, error %v", n, err)
	}
	return made
}
