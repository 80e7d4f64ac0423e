package pooled_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/pooled"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/pool"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/testkit/alloctest"
	"github.com/swcaffe/swcaffe/internal/testkit/racing"
)

// TestConvPool: the bits of the convolution and the pooling one after the other, in both layouts of outputs, on any number of core groups,
// with rectified outputs, ties, NaN, infinities, gradients that are added, and packed places. By planes gradients are near those, and have the
// same bits on any number of core groups.
func TestConvPool(t *testing.T) {
	caches := [][]*cpe.Machine{kerneltest.CacheMachines(t, 1<<20), kerneltest.CacheMachines(t, 48<<10)}
	fused := map[bool]int{}
	for i, s := range convtest.PooledConvs {
		for j := range 2 * len(kerneltest.PoolWindows) {
			if i%2 != j%2 && pooled.InBlocks(&s) { // half of the windows, with each cache
				continue
			}
			if racing.Detector && (i+j)/2%3 > 0 {
				continue
			}
			p, ok := convtest.PooledShape(s, kerneltest.PoolWindows[j/2], j%3 == 1)
			if !ok {
				continue
			}
			p.ReLU, p.Packed, p.OutBlocks = j/2%2 == 1, j/2%4 > 1, pooled.InBlocks(&s) && (i+j/2)%3 != 0
			machines := caches[(j+j/2)%2]
			t.Run(fmt.Sprintf("%v, %+v, L2 of %d bytes", s, p, machines[0].Spec().LDMBytes), func(t *testing.T) {
				if testConvPool(t, machines, s, p) {
					fused[pooled.InBlocks(&s)]++
				}
			})
		}
	}
	planes, blocks := 10, 30
	if racing.Detector {
		planes, blocks = 3, 10
	}
	if fused[false] < planes && machineHasPlanes(t) || fused[true] < blocks {
		t.Errorf("cases that were computed at once, by planes and in blocks: %v", fused)
	}
}

// TestConvPoolPacked: so it is, by planes, with rectified outputs whose places are packed: those that are 0 took no place.
func TestConvPoolPacked(t *testing.T) {
	machines := kerneltest.CacheMachines(t, 1<<20)
	fused := 0
	for _, s := range []shape.Conv{convtest.PooledConvs[0], convtest.PooledConvs[6], convtest.Shape2D(2, 2, 36, 1, 21, 14, 3, 3, 1, 1, 1)} {
		for _, window := range [][3]int{{2, 2, 0}, {3, 2, 0}, {3, 2, 1}} {
			s.Out = s.Out/shape.BlockLanes*shape.BlockLanes + 5
			p, _ := convtest.PooledShape(s, window, false)
			p.ReLU, p.Packed = true, true
			if testConvPool(t, machines, s, p) {
				fused++
			}
		}
	}
	if fused == 0 && machineHasPlanes(t) {
		t.Error("nothing was computed at once")
	}
}

// machineHasPlanes reports whether there are vectors that pool planes.
func machineHasPlanes(t *testing.T) bool {
	p, err := pool.New(kerneltest.HostMachine(t, 1), pool.Shape{N: 1, C: 1, H: 4, W: 4, OH: 2, OW: 2, KH: 2, KW: 2, SH: 2, SW: 2})
	return err == nil && p.ByPlanes()
}

// coarseWith are coarse values, of which sums are exact and many equal, with NaN and infinities if odd is set.
func coarseWith(n int, seed uint64, odd bool) []float32 {
	v := kerneltest.Values(n, seed)
	for i := range v {
		v[i] = float32(math.Trunc(float64(v[i])*4)) / 4
		if odd && i%97 == 13 {
			v[i] = []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))}[i/97%3]
		}
	}
	return v
}

// testConvPool reports whether a shape is computed at once.
func testConvPool(t *testing.T, machines []*cpe.Machine, s shape.Conv, p pool.Shape) (fused bool) {
	for _, exact := range []bool{false, true} {
		make := func(n int, seed uint64) []float32 { return kerneltest.Values(n, seed) }
		if exact {
			make = func(n int, seed uint64) []float32 { return coarseWith(n, seed, false) }
		}
		x, w, bias := make(s.N*s.C*tiling.Size(s.In), 1), make(s.Out*s.Depth(), 2), make(s.Out, 3)
		odd := x
		if exact {
			odd = coarseWith(len(x), 1, true)
		}
		dy := kerneltest.Values(p.N*p.C*p.OH*p.OW, 4)
		want := oneByOne(t, machines[0], s, p, x, odd, w, bias, dy)
		for _, m := range machines {
			c, err := bandPool(m, s, p)
			if err != nil {
				t.Fatal(err)
			}
			if c == nil {
				return false
			}
			got := atOnce(t, c, s, p, x, odd, w, bias, dy)
			for j := range got {
				what := fmt.Sprintf("array %d on %d core groups", j, m.Spec().CoreGroups)
				if gradient := j != 0 && j != 3; gradient && !pooled.InBlocks(&s) && m == machines[0] {
					kerneltest.Near(t, what, got[j], wide(want[j]), len(dy)/s.Out)
					want[j] = got[j]
				}
				kerneltest.SameBits(t, what, got[j], want[j])
			}
		}
	}
	return true
}

// wide are the same values in float64.
func wide(v []float32) []float64 {
	w := make([]float64, len(v))
	for i := range v {
		w[i] = float64(v[i])
	}
	return w
}

// oneByOne returns outputs and gradients of weights and biases, with biases and without.
func oneByOne(t *testing.T, m *cpe.Machine, s shape.Conv, p pool.Shape, x, odd, w, bias, dy []float32) (list [5][]float32) {
	t.Helper()
	c, err := plan.New(m, s, shape.Implicit)
	if err != nil {
		t.Fatal(err)
	}
	p.OutBlocks = false
	pooling, err := pool.New(m, p)
	if err != nil {
		t.Fatal(err)
	}
	y, mask := make([]float32, s.N*s.Out*tiling.Size(s.OutSize())), make([]int32, pooling.MaskWords())
	out := len(dy)
	list = [5][]float32{make([]float32, out), slices.Clone(w), slices.Clone(bias), make([]float32, out), slices.Clone(w)}
	run := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	run(c.Run(shape.Forward, conv.Arrays{X: x, W: w, Y: y}))
	run(pooling.Forward(y, list[3], mask, 0))
	run(pooling.Backward(dy, mask, y))
	run(c.Run(shape.WeightGradient, conv.Arrays{X: x, DY: y, DW: list[4]}))
	run(c.Run(shape.Forward, conv.Arrays{X: odd, W: w, Bias: bias, Y: y}))
	run(pooling.Forward(y, list[0], mask, 0))
	run(pooling.Backward(dy, mask, y))
	run(c.Run(shape.WeightGradient, conv.Arrays{X: x, DY: y, DW: list[1], DB: list[2], Add: true}))
	return list
}

// atOnce is the same, with outputs and their gradient as they lie.
func atOnce(t *testing.T, c *pooled.Kernel, s shape.Conv, p pool.Shape, x, odd, w, bias, dy []float32) (list [5][]float32) {
	t.Helper()
	out, mask := len(dy), make([]int32, c.MaskWords())
	for i := range mask {
		mask[i] = -1
	}
	nan := func(v []float32) []float32 {
		for i := range v {
			v[i] = float32(math.NaN())
		}
		return v
	}
	list = [5][]float32{nan(make([]float32, out)), slices.Clone(w), slices.Clone(bias), nan(make([]float32, out)), nan(slices.Clone(w))}
	dy = kerneltest.Lie(dy, p.N*p.C, p.OutBlocks, false)
	for _, err := range []error{
		c.Forward(x, w, nil, list[3], mask), c.Grads(&conv.Arrays{X: x, DY: dy, DW: list[4]}, mask),
		c.Forward(odd, w, bias, list[0], mask), c.Grads(&conv.Arrays{X: x, DY: dy, DW: list[1], DB: list[2], Add: true}, mask),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	alone := slices.Clone(bias)
	if err := c.Grads(&conv.Arrays{X: x, DY: dy, DB: alone}, mask); err != nil {
		t.Fatal(err)
	}
	kerneltest.SameBits(t, "biases' gradient alone", alone, list[2])
	list[0], list[3] = kerneltest.Lie(list[0], p.N*p.C, p.OutBlocks, true), kerneltest.Lie(list[3], p.N*p.C, p.OutBlocks, true)
	return list
}

// TestConvPoolAllocates: nothing, once it is prepared.
func TestConvPoolAllocates(t *testing.T) {
	for _, s := range convtest.PooledConvs[:2] {
		p, _ := convtest.PooledShape(s, [3]int{3, 2, 0}, false)
		c, err := bandPool(kerneltest.HostMachine(t, 2), s, p)
		if err != nil {
			t.Fatal(err)
		}
		if c == nil {
			continue
		}
		x, w, bias := kerneltest.Values(s.N*s.C*tiling.Size(s.In), 1), kerneltest.Values(s.Out*s.Depth(), 2), kerneltest.Values(s.Out, 3)
		y, mask := make([]float32, p.N*p.C*p.OH*p.OW), make([]int32, c.MaskWords())
		if n := alloctest.PerRun(3, func() {
			if err := c.Forward(x, w, bias, y, mask); err != nil {
				t.Fatal(err)
			}
			if err := c.Grads(&conv.Arrays{X: x, DY: y, DW: w, DB: bias, Add: true}, mask); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%v: %d allocations a run", s, n)
		}
	}
}

// bandPool fuses a convolution with pooling by bands, whatever algorithms are chosen for it.
func bandPool(m *cpe.Machine, s shape.Conv, p pool.Shape) (*pooled.Kernel, error) {
	spec := m.Spec()
	return pooled.NewBands(m, conv.Problem{Shape: s, Spec: &spec}, p)
}
