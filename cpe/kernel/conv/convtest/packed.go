package convtest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/testkit/alloctest"
	"github.com/swcaffe/swcaffe/internal/testkit/racing"
)

// Packed tests an algorithm of Forward whose factors are packed in other types than float32: results are right in every layout, with the same bits on any number of
// core groups and at every level; kept weights are unpacked as rounded ones, or of integers not at all; steps are done; nothing is allocated.
func Packed(t *testing.T, name string, types op.Types, shapes []shape.Conv) {
	factors := kerneltest.Rounded
	if types == op.Quantised {
		factors = kerneltest.Stepped
	}
	caches := [][]*cpe.Machine{kerneltest.CacheMachines(t, 1<<20), kerneltest.CacheMachines(t, 48<<10)}
	for _, machines := range caches {
		for i, m := range machines {
			machines[i] = kerneltest.Rounding(t, m)
		}
	}
	for _, s := range racing.Few(shapes) {
		want := NewCase(s, factors)
		each := func(in, out bool) {
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
						y := runPacked(t, m, name, types, s, in, out, want)
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
		}
		each(false, false)
		EachLayout(s, each)
	}
}

func runPacked(t *testing.T, m *cpe.Machine, name string, types op.Types, s shape.Conv, in, out bool, want *Case) []float32 {
	c, err := plan.NewIn(m, s, op.Force{Name: name}, types, kerneltest.Scales(s.Out))
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
	} else if (form != nil) == (types == op.Quantised) {
		t.Errorf("weights can be restored: %v", form != nil)
	} else if form != nil {
		if form.Restore(weights); !slices.Equal(weights, want.W) {
			t.Error("restored weights differ")
		}
	}
	if err := c.Run(shape.Forward, conv.Arrays{X: x, Bias: want.Bias, Y: y, Fixed: kept, Floor: true, Finish: func(y []float32, _, _ int) {
		for i := range y {
			y[i] = 2*y[i] + 1
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
