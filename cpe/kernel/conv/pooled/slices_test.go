package pooled_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/pool"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/testkit/alloctest"
	"github.com/swcaffe/swcaffe/internal/testkit/racing"
)

// slicePooled are small images: channels that fill slices and that do not, tiles that reach beyond results, and padding.
var slicePooled = []shape.Conv{
	convtest.Shape2D(17, 20, 50, 1, 12, 12, 5, 5, 1, 0, 1),
	convtest.Shape2D(16, 16, 32, 1, 7, 9, 5, 5, 1, 2, 1),
	convtest.Shape2D(35, 18, 16, 1, 6, 5, 3, 3, 1, 1, 1),
}

// TestSlicePool: the bits of the convolution and the pooling one after the other, on any number of core groups, with windows that share
// results and that do not, rectified outputs, and images and outputs that lie by planes or in blocks.
func TestSlicePool(t *testing.T) {
	for i, s := range slicePooled {
		convtest.EachWinograd(s, func(st shape.Strategy) {
			for j, window := range racing.Few(kerneltest.PoolWindows) {
				p, ok := convtest.PooledShape(s, window, j%3 == 1)
				if !ok || (i+j+int(st))%2 > 0 { // half of the windows with each form
					continue
				}
				p.ReLU, p.OutBlocks = j%2 == 1, s.Out%shape.BlockLanes == 0 && (i+j)%3 != 0
				in := s.C%shape.BlockLanes == 0 && j%4 > 1
				t.Run(fmt.Sprintf("%v, %v, %+v, images in blocks: %t", s, st, p, in), func(t *testing.T) { testSlicePool(t, s, st, p, in) })
			}
		})
	}
}

func testSlicePool(t *testing.T, s shape.Conv, st shape.Strategy, p pool.Shape, in bool) {
	x, w, bias := kerneltest.Values(s.N*s.C*tiling.Size(s.In), 1), kerneltest.Values(s.Out*s.Depth(), 2), kerneltest.Values(s.Out, 3)
	dy := kerneltest.Values(p.N*p.C*p.OH*p.OW, 4)
	x[len(x)/2] = float32(math.NaN())
	out := p.OutBlocks
	p.OutBlocks = false
	layer, err := plan.New(kerneltest.HostMachine(t, 2), s, st)
	if err != nil {
		t.Fatal(err)
	}
	pooling, err := pool.New(kerneltest.HostMachine(t, 2), p)
	if err != nil {
		t.Fatal(err)
	}
	y, results, mask := make([]float32, len(dy)), make([]float32, s.N*s.Out*tiling.Size(s.OutSize())), make([]int32, pooling.MaskWords())
	want := conv.Arrays{X: x, W: w, DY: results, DX: make([]float32, len(x)), DW: slices.Clone(w), DB: slices.Clone(bias), Add: true}
	for _, err := range []error{
		layer.Run(shape.Forward, conv.Arrays{X: x, W: w, Bias: bias, Y: results}), pooling.Forward(results, y, mask, 0), pooling.Backward(dy, mask, results), layer.Run(shape.BothGradients, want),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	p.OutBlocks = out
	for _, groups := range kerneltest.GroupCounts() {
		if layer, err = plan.New(kerneltest.HostMachine(t, groups), s, st); err != nil {
			t.Fatal(err)
		}
		if err := layer.SetLayouts(shape.InBlocks(in), shape.Planes); err != nil {
			t.Fatal(err)
		}
		c, err := layer.Pooled(p)
		if err != nil || c == nil || !c.PassesGrads() {
			t.Fatalf("not pooled, or error %v", err)
		}
		comparePooled(t, c, s, &want, p, in, bias, dy, y)
	}
}

// comparePooled compares all results with those of the two one by one, of which y are the outputs.
func comparePooled(t *testing.T, c *plan.Pooled, s shape.Conv, want *conv.Arrays, p pool.Shape, in bool, bias, dy, y []float32) {
	t.Helper()
	x, mask := kerneltest.Lie(want.X, s.N*s.C, in, false), make([]int32, c.MaskWords())
	dy = kerneltest.Lie(dy, p.N*p.C, p.OutBlocks, false)
	got := make([]float32, len(y))
	for i := range got {
		got[i] = float32(math.NaN())
	}
	if err := c.Forward(x, want.W, bias, got, mask); err != nil {
		t.Fatal(err)
	}
	kerneltest.SameBits(t, "outputs", kerneltest.Lie(got, p.N*p.C, p.OutBlocks, true), y)
	for i := 1; i < 8; i++ { // which gradients are asked for
		g := conv.Arrays{X: x, W: want.W, DY: dy, Add: true}
		if i&1 > 0 {
			g.DX = make([]float32, len(x))
		}
		if i&2 > 0 {
			g.DW = slices.Clone(want.W)
		}
		if i&4 > 0 {
			g.DB = slices.Clone(bias)
		}
		if err := c.Grads(&g, mask); err != nil {
			t.Fatal(err)
		}
		if g.DX != nil {
			kerneltest.SameBits(t, "images' gradient", kerneltest.Lie(g.DX, s.N*s.C, in, true), want.DX)
		}
		if g.DW != nil {
			kerneltest.SameBits(t, "weights' gradient", g.DW, want.DW)
		}
		if g.DB != nil {
			kerneltest.SameBits(t, "biases' gradient", g.DB, want.DB)
		}
	}
}

// TestNotSlicePooled: convolutions whose gradients are not those of small images, whose images are cut into patches, or whose strategy is
// another, and means, are pooled behind them.
func TestNotSlicePooled(t *testing.T) {
	small := slicePooled[0]
	for name, tt := range map[string]struct {
		shape  shape.Conv
		st     shape.Strategy
		method pool.Method
		want   bool
	}{
		"small":      {small, shape.Winograd4, pool.Max, true},
		"means":      {small, shape.Winograd4, pool.Ave, false},
		"implicit":   {small, shape.Implicit, pool.Max, false},
		"few images": {convtest.Shape2D(15, 20, 50, 1, 12, 12, 5, 5, 1, 0, 1), shape.Winograd4, pool.Max, false},
		"patches":    {convtest.Shape2D(16, 16, 16, 1, 18, 18, 3, 3, 1, 1, 1), shape.Winograd4, pool.Max, false},
	} {
		c, err := plan.New(kerneltest.HostMachine(t, 2), tt.shape, tt.st)
		if err != nil {
			t.Fatal(err)
		}
		p, _ := convtest.PooledShape(tt.shape, [3]int{2, 2, 0}, false)
		p.Method = tt.method
		if fused, err := c.Pooled(p); err != nil || (fused != nil) != tt.want {
			t.Errorf("%s: pooled at once: %t, error %v", name, !tt.want, err)
		}
	}
}

// TestTunedSlicePool: with a tuner, results are pooled at once when the strategies of all directions are known.
func TestTunedSlicePool(t *testing.T) {
	s, u := slicePooled[0], convtest.NewScripted(t, shape.Winograd4)
	p, _ := convtest.PooledShape(s, [3]int{2, 2, 0}, false)
	for d := range shape.Direction(3) {
		c, err := plan.NewTuned(kerneltest.HostMachine(t, 2), s, op.Types{}, u)
		if err != nil {
			t.Fatal(err)
		}
		if both, err := c.Pooled(p); err != nil || both != nil {
			t.Errorf("results are pooled at once, or an error, before the strategy of the %v is known: %v", d, err)
		}
		if err := u.Measured(conv.Key{Shape: s, Direction: d}, nil); err != nil {
			t.Fatal(err)
		}
	}
	c, err := plan.NewTuned(kerneltest.HostMachine(t, 2), s, op.Types{}, u)
	if err != nil {
		t.Fatal(err)
	}
	if both, err := c.Pooled(p); err != nil || both == nil {
		t.Errorf("results are not pooled at once: %v", err)
	}
}

// TestSlicePoolAllocates: nothing, once it is prepared.
func TestSlicePoolAllocates(t *testing.T) {
	s := slicePooled[0]
	p, _ := convtest.PooledShape(s, [3]int{2, 2, 0}, false)
	layer, err := plan.New(kerneltest.HostMachine(t, 2), s, shape.Winograd4)
	if err != nil {
		t.Fatal(err)
	}
	c, err := layer.Pooled(p)
	if err != nil || c == nil {
		t.Fatalf("not pooled, or error %v", err)
	}
	g := conv.Arrays{X: kerneltest.Values(s.N*s.C*tiling.Size(s.In), 1), W: kerneltest.Values(s.Out*s.Depth(), 2), DY: kerneltest.Values(p.N*p.C*p.OH*p.OW, 3)}
	g.DX, g.DW = make([]float32, len(g.X)), make([]float32, len(g.W))
	y, mask := make([]float32, len(g.DY)), make([]int32, c.MaskWords())
	if n := alloctest.PerRun(3, func() {
		if err := c.Forward(g.X, g.W, nil, y, mask); err != nil {
			t.Fatal(err)
		}
		if err := c.Grads(&g, mask); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%d allocations a run", n)
	}
}
