package pointwise_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/testkit/alloctest"
	"github.com/swcaffe/swcaffe/internal/testkit/racing"
)

// blockedShapes are pointwise convolutions, with strides or without, of channels that fill blocks or do not, and pixels that fill no
// tiles.
var blockedShapes = []shape.Conv{
	convtest.Shape2D(1, 16, 16, 1, 1, 1, 1, 1, 1, 0, 1),
	convtest.Shape2D(3, 16, 48, 1, 7, 7, 1, 1, 1, 0, 1),
	convtest.Shape2D(5, 48, 16, 1, 5, 3, 1, 1, 1, 0, 1),
	convtest.Shape2D(2, 24, 64, 1, 7, 7, 1, 1, 1, 0, 1),
	convtest.Shape2D(2, 64, 24, 1, 9, 5, 1, 1, 1, 0, 1),
	convtest.Shape2D(3, 272, 80, 1, 7, 7, 1, 1, 1, 0, 1), // inputs in parts
	convtest.Shape2D(2, 80, 272, 1, 5, 3, 1, 1, 1, 0, 1),
	convtest.Shape2D(3, 272, 288, 1, 3, 3, 1, 1, 1, 0, 1), // many weights in parts
	convtest.Shape2D(2, 32, 64, 1, 41, 37, 1, 1, 1, 0, 1), // spans of part of an image
	convtest.Shape2D(17, 16, 32, 1, 3, 4, 1, 1, 1, 0, 1),  // and of several
	convtest.Shape2D(2, 32, 48, 1, 9, 8, 1, 1, 2, 0, 1),
	convtest.Shape2D(2, 40, 33, 1, 15, 14, 1, 1, 2, 0, 1),
	convtest.Shape2D(3, 48, 64, 1, 10, 7, 1, 1, 3, 0, 1),
	convtest.Shape2D(1, 32, 16, 1, 90, 88, 1, 1, 2, 0, 1), // spans of some lines
	{N: 2, C: 16, Out: 32, Group: 1, In: []int{6, 9}, Kernel: []int{1, 1}, Stride: []int{1, 2}, Pad: []int{0, 0}, Dilation: []int{1, 1}},
	{N: 2, C: 48, Out: 32, Group: 1, In: []int{11}, Kernel: []int{1}, Stride: []int{1}, Pad: []int{0}, Dilation: []int{1}},
}

// TestBlockedPointwise: every direction of every layout, with the bits that it has on one core group. Where L2 is small, weights are many.
func TestBlockedPointwise(t *testing.T) {
	caches := [][]*cpe.Machine{kerneltest.CacheMachines(t, 1<<20), kerneltest.CacheMachines(t, 16<<10)}
	for _, s := range racing.Few(blockedShapes) {
		want := convtest.NewCase(s, kerneltest.Values)
		convtest.EachLayout(s, func(in, out bool) {
			for _, machines := range caches {
				name := fmt.Sprintf("%v, in blocks %v %v, L2 of %d bytes", s, in, out, machines[0].Spec().LDMBytes)
				t.Run(name, func(t *testing.T) { testBlockedPointwise(t, machines, s, in, out, want) })
			}
		})
	}
}

// TestBlockedBFloat16: as TestBlockedPointwise, where rounding changes no factor. At every level results have the same bits.
func TestBlockedBFloat16(t *testing.T) {
	caches := [][]*cpe.Machine{kerneltest.CacheMachines(t, 1<<20), kerneltest.CacheMachines(t, 16<<10)}
	for _, machines := range caches {
		for i, m := range machines {
			machines[i] = kerneltest.Rounding(t, m)
		}
	}
	for turn, s := range racing.Few(blockedShapes) {
		want := convtest.NewCase(s, kerneltest.Rounded)
		convtest.EachLayout(s, func(in, out bool) {
			machines := caches[turn%2]
			turn++
			var first [4][]float32
			for i, level := range racing.Few(isa.Levels()) {
				if i > 0 {
					machines = machines[:1]
				}
				restore := isa.Use(level)
				t.Run(fmt.Sprintf("%v, in blocks %v %v, L2 of %d bytes, %s", s, in, out, machines[0].Spec().LDMBytes, level), func(t *testing.T) {
					got := testBlockedPointwise(t, machines, s, in, out, want)
					if i == 0 {
						first = got
					}
					for j, name := range []string{"results", "gradient of images", "gradient of weights", "sum of gradients"} {
						if !slices.Equal(got[j], first[j]) {
							t.Errorf("%s: not the bits of %s", name, isa.Levels()[0])
						}
					}
				})
				restore()
			}
		})
	}
}

// TestBlockedInt8: results of integers are right in every layout, with the same bits on any number of core groups and at every level.
func TestBlockedInt8(t *testing.T) {
	caches := [][]*cpe.Machine{kerneltest.CacheMachines(t, 1<<20), kerneltest.CacheMachines(t, 16<<10)}
	for turn, s := range racing.Few(blockedShapes) {
		want := convtest.NewCase(s, kerneltest.Stepped)
		convtest.EachLayout(s, func(in, out bool) {
			turn++
			var first []float32
			for _, level := range racing.Few(isa.Levels()) {
				restore := isa.Use(level)
				for _, m := range caches[turn%2] {
					c, err := plan.NewIn(m, s, op.Force{}, op.Quantised, kerneltest.Scales(s.Out))
					if err == nil {
						err = c.Arrange(shape.InBlocks(in), shape.InBlocks(out), []shape.Direction{shape.Forward})
					}
					if err != nil {
						t.Fatal(err)
					}
					if name := c.Algorithm(shape.Forward); name != "pointwise-blocked-int8" {
						t.Fatalf("computed by %s", name)
					}
					x, y := kerneltest.Lie(want.X, s.N*s.C, in, false), make([]float32, len(want.WantY))
					for _, fixed := range []*op.Weights{nil, new(op.Weights)} {
						if err := c.Run(shape.Forward, conv.Arrays{X: x, W: want.W, Bias: want.Bias, Y: y, Fixed: fixed}); err != nil {
							t.Fatal(err)
						}
						got := kerneltest.Lie(y, s.N*s.Out, out, true)
						kerneltest.Near(t, fmt.Sprintf("%v, in blocks %v %v, %s", s, in, out, level), got, want.WantY, s.C)
						if first == nil {
							first = slices.Clone(got)
						}
						if !slices.Equal(got, first) {
							t.Errorf("%v, in blocks %v %v, %s, %d core groups: other bits than at first", s, in, out, level, m.Spec().CoreGroups)
						}
					}
				}
				restore()
			}
		})
	}
}

// TestRounds: the results are those of rounded factors, bit by bit, and weights that are kept are restored as rounded ones.
func TestRounds(t *testing.T) {
	s := convtest.Shape2D(2, 80, 48, 1, 7, 5, 1, 1, 1, 0, 1)
	c, err := plan.New(kerneltest.Rounding(t, kerneltest.HostMachine(t, 2)), s, shape.Auto)
	if err == nil {
		err = c.Arrange(shape.Blocks, shape.Blocks, []shape.Direction{shape.Forward})
	}
	if err != nil {
		t.Fatal(err)
	}
	if name := c.Algorithm(shape.Forward); name != "pointwise-blocked-bf16" {
		t.Fatalf("computed by %s", name)
	}
	var made [2][]float32
	for i, values := range []func(int, uint64) []float32{kerneltest.Values, kerneltest.Rounded} {
		x, w := values(s.N*s.C*35, 1), values(s.Out*s.C, 2)
		made[i] = make([]float32, s.N*s.Out*35)
		fixed := new(op.Weights)
		if err := c.Run(shape.Forward, conv.Arrays{X: x, W: w, Y: made[i], Fixed: fixed}); err != nil {
			t.Fatal(err)
		}
		form, got := c.Keeper(shape.Forward).Form(fixed), make([]float32, len(w))
		if form == nil || !form.Rounds {
			t.Fatal("weights are not kept, or not as rounded ones")
		}
		if form.Restore(got); !slices.Equal(got, kerneltest.Rounded(len(w), 2)) {
			t.Error("restored weights are not the rounded ones")
		}
	}
	if !slices.Equal(made[0], made[1]) {
		t.Error("results of rounded factors differ")
	}
}

func testBlockedPointwise(t *testing.T, machines []*cpe.Machine, s shape.Conv, in, out bool, want *convtest.Case) (first [4][]float32) {
	for i, m := range machines {
		got := runBlocked(t, m, s, in, out, want)
		if i == 0 {
			first = got
		}
		for j := range got {
			if !slices.Equal(got[j], first[j]) {
				t.Errorf("array %d with %d core groups differs", j, m.Spec().CoreGroups)
			}
		}
	}
	return first
}

// TestBlocksNeedWholeBlocks: channels that do not fill blocks, and machines that are models, get an error.
func TestBlocksNeedWholeBlocks(t *testing.T) {
	kerneltest.OnMachines(t, func(t *testing.T, m *cpe.Machine) {
		c, err := plan.New(m, convtest.Shape2D(1, 24, 32, 1, 3, 3, 1, 1, 1, 0, 1), shape.Implicit)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.SetLayouts(shape.Blocks, shape.Blocks); err == nil {
			t.Error("24 channels in blocks")
		}
		if err := c.SetLayouts(shape.Planes, shape.Blocks); (err == nil) != m.Native() {
			t.Errorf("results in blocks: error %v", err)
		}
	})
}

// runBlocked convolves in all directions and returns what is made: results, gradients of images, of weights, and added of images.
func runBlocked(t *testing.T, m *cpe.Machine, s shape.Conv, in, out bool, want *convtest.Case) (made [4][]float32) {
	t.Helper()
	c, err := plan.New(m, s, shape.Implicit)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SetLayouts(shape.InBlocks(in), shape.InBlocks(out)); err != nil {
		t.Fatal(err)
	}
	if spec := m.Spec(); strings.HasSuffix(string(c.Algorithm(shape.Forward)), "-bf16") != (spec.Precision() == cpe.BF16) {
		t.Fatalf("computed by %s", c.Algorithm(shape.Forward))
	}
	x, dy := kerneltest.Lie(want.X, s.N*s.C, in, false), kerneltest.Lie(want.DY, s.N*s.Out, out, false)
	y, dx, sum := make([]float32, len(want.WantY)), make([]float32, len(x)), slices.Clone(x)
	for range 2 { // the second run meets used buffers
		for _, list := range [][]float32{y, dx} {
			for i := range list {
				list[i] = float32(math.NaN())
			}
		}
		if err := c.Run(shape.Forward, conv.Arrays{X: x, W: want.W, Bias: want.Bias, Y: y}); err != nil {
			t.Fatal(err)
		}
		if err := c.Run(shape.InputGradient, conv.Arrays{DY: dy, W: want.W, DX: dx}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Run(shape.InputGradient, conv.Arrays{DY: dy, W: want.W, DX: sum, Add: true}); err != nil {
		t.Fatal(err)
	}
	dw := slices.Clone(want.DW)
	if err := c.Run(shape.WeightGradient, conv.Arrays{X: x, DY: dy, DW: dw, Add: true}); err != nil {
		t.Fatal(err)
	}
	y, dx, sum = kerneltest.Lie(y, s.N*s.Out, out, true), kerneltest.Lie(dx, s.N*s.C, in, true), kerneltest.Lie(sum, s.N*s.C, in, true)
	kerneltest.Near(t, "y", y, want.WantY, s.C)
	kerneltest.Near(t, "dx", dx, want.WantDX, s.Out)
	kerneltest.Near(t, "dw", dw, want.WantDW, len(y)/s.Out)
	added := slices.Clone(want.WantDX)
	for i, v := range want.X {
		added[i] += float64(v)
	}
	kerneltest.Near(t, "sum", sum, added, s.Out)
	return [4][]float32{y, dx, dw, sum}
}

// TestBlockedPointwiseAllocates: nothing, once it is prepared.
func TestBlockedPointwiseAllocates(t *testing.T) {
	s := convtest.Shape2D(2, 32, 48, 1, 9, 8, 1, 1, 2, 0, 1)
	each := func(m *cpe.Machine, in, out bool) {
		c, err := plan.New(m, s, shape.Implicit)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.SetLayouts(shape.InBlocks(in), shape.InBlocks(out)); err != nil {
			t.Fatal(err)
		}
		v := convtest.NewCase(s, kerneltest.Values)
		allocs := alloctest.PerRun(3, func() {
			for _, err := range []error{c.Run(shape.Forward, conv.Arrays{X: v.X, W: v.W, Bias: v.Bias, Y: v.DY}), c.Run(shape.WeightGradient, conv.Arrays{X: v.X, DY: v.DY, DW: v.W, Add: true}), c.Run(shape.InputGradient, conv.Arrays{DY: v.DY, W: v.W, DX: v.X, Add: true})} {
				if err != nil {
					t.Fatal(err)
				}
			}
		})
		if allocs != 0 {
			t.Errorf("%s, in blocks %v %v: %d allocations a run", c.Algorithm(shape.Forward), in, out, allocs)
		}
	}
	convtest.EachLayout(s, func(in, out bool) {
		each(kerneltest.HostMachine(t, 2), in, out)
		each(kerneltest.Rounding(t, kerneltest.HostMachine(t, 2)), in, out)
	})
}
