package direct_test

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
	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/testkit/alloctest"
	"github.com/swcaffe/swcaffe/internal/testkit/racing"
)

// TestPacked: with either number type results are right in every layout, with the same bits on any number of core groups and at every level; kept weights
// are unpacked as rounded ones, or not at all; steps are done; nothing is allocated.
func TestPacked(t *testing.T) {
	t.Run("bf16", func(t *testing.T) { testPacked(t, "implicit-bf16", kerneltest.Rounded) })
	t.Run("int8", func(t *testing.T) { testPacked(t, "implicit-int8", kerneltest.Stepped) })
}

func testPacked(t *testing.T, name string, factors func(n int, seed uint64) []float32) {
	caches := [][]*cpe.Machine{kerneltest.CacheMachines(t, 1<<20), kerneltest.CacheMachines(t, 48<<10)}
	for _, machines := range caches {
		for i, m := range machines {
			machines[i] = kerneltest.Rounding(t, m)
		}
	}
	for _, s := range racing.Few([]shape.Conv{
		convtest.Shape2D(1, 16, 16, 1, 3, 4, 3, 3, 1, 1, 1),
		convtest.Shape2D(2, 48, 64, 1, 7, 7, 3, 3, 1, 1, 1),
		convtest.Shape2D(1, 20, 33, 1, 11, 12, 5, 5, 1, 0, 1),
		convtest.Shape2D(3, 40, 16, 1, 9, 7, 3, 2, 1, 2, 1),
		convtest.Shape2D(2, 96, 64, 2, 13, 9, 5, 5, 1, 2, 1),  // groups
		convtest.Shape2D(1, 64, 48, 1, 17, 15, 3, 3, 1, 2, 2), // dilation
		convtest.Shape2D(1, 48, 48, 1, 40, 20, 3, 3, 1, 1, 1), // bands
		{N: 3, C: 32, Out: 9, Group: 1, In: []int{40}, Kernel: []int{5}, Stride: []int{1}, Pad: []int{3}, Dilation: []int{1}},
		{N: 1, C: 32, Out: 32, Group: 1, In: []int{6, 9}, Kernel: []int{1, 3}, Stride: []int{1, 1}, Pad: []int{2, 0}, Dilation: []int{1, 1}},
	}) {
		want := convtest.NewCase(s, factors)
		convtest.EachLayout(s, func(in, out bool) {
			var first []float32
			for i, level := range racing.Few(isa.Levels()) {
				restore := isa.Use(level)
				machines := caches[i%2]
				if i > 0 {
					machines = machines[1:2]
				}
				for _, m := range machines {
					spec := m.Spec()
					t.Run(fmt.Sprintf("%v, in blocks %v %v, %s, %d core groups, L2 of %d bytes", s, in, out, level, spec.CoreGroups, spec.LDMBytes), func(t *testing.T) {
						y := runPacked(t, m, name, s, in, out, want)
						if first == nil {
							first = y
						}
						if !slices.Equal(y, first) {
							t.Error("other bits than at first")
						}
					})
				}
				restore()
			}
		})
	}
}

func runPacked(t *testing.T, m *cpe.Machine, name string, s shape.Conv, in, out bool, want *convtest.Case) []float32 {
	types, scales := op.RoundedFactors, kerneltest.Scales(s.Out)
	if name == "implicit-int8" {
		types = op.Quantised
	}
	c, err := plan.NewIn(m, s, op.Force{Name: name}, types, scales)
	if err == nil {
		err = c.Arrange(shape.InBlocks(in), shape.InBlocks(out), []shape.Direction{shape.Forward})
	}
	if err != nil {
		t.Fatal(err)
	}
	if runs := c.Algorithm(shape.Forward); string(runs) != name {
		t.Fatalf("computed by %s", runs)
	}
	x, y := kerneltest.Lie(want.X, s.N*s.C, in, false), make([]float32, len(want.WantY))
	kept := new(op.Weights)
	for i, fixed := range []*op.Weights{nil, kept} {
		for _, w := range [][]float32{want.W, nil}[:1+i] { // kept weights are not read
			for i := range y {
				y[i] = -1
			}
			if err := c.Run(shape.Forward, conv.Arrays{X: x, W: w, Bias: want.Bias, Y: y, Fixed: fixed}); err != nil {
				t.Fatal(err)
			}
			kerneltest.Near(t, "y", kerneltest.Lie(y, s.N*s.Out, out, true), want.WantY, len(want.W)/s.Out)
		}
	}
	made := slices.Clone(y)
	weights := make([]float32, len(want.W))
	k := c.Keeper(shape.Forward)
	if form := k.Form(kept); !k.Keeps(kept) {
		t.Error("weights are not kept")
	} else if (form != nil) == (name == "implicit-int8") {
		t.Errorf("weights can be restored: %v", form != nil)
	} else if form != nil {
		if form.Restore(weights); !slices.Equal(weights, want.W) {
			t.Error("restored weights differ")
		}
	}
	if err := c.Run(shape.Forward, conv.Arrays{X: x, Bias: want.Bias, Y: y, Fixed: kept, Floor: true, Finish: func(y []float32, at, n, _ int) {
		for i := range y[at : at+n] {
			y[at+i] = 2*y[at+i] + 1
		}
	}}); err != nil {
		t.Fatal(err)
	}
	for i, v := range made {
		if y[i] != 2*max(v, 0)+1 {
			t.Fatalf("value %d with steps is %g, without %g", i, y[i], v)
		}
	}
	if n := alloctest.PerRun(2, func() {
		err = c.Run(shape.Forward, conv.Arrays{X: x, Bias: want.Bias, Y: y, Fixed: kept})
	}); n > 0 || err != nil {
		t.Errorf("%d allocations in a run, error %v", n, err)
	}
	return kerneltest.Lie(made, s.N*s.Out, out, true)
}
