package direct_test

import (
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/direct"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/testkit/alloctest"
)

// TestSpread: input gradients of few pixels, with and without padding, are right, have the same bits on any number of core groups, and allocate
// nothing.
func TestSpread(t *testing.T) {
	for _, s := range []shape.Conv{
		convtest.Shape2D(1, 3, 4, 1, 6, 5, 3, 3, 1, 1, 1),
		convtest.Shape2D(2, 20, 33, 1, 11, 12, 5, 5, 1, 0, 1),
		convtest.Shape2D(1, 17, 5, 1, 9, 7, 3, 2, 1, 2, 1),
		{N: 3, C: 2, Out: 9, Group: 1, In: []int{40}, Kernel: []int{5}, Stride: []int{1}, Pad: []int{3}, Dilation: []int{1}},
	} {
		want := convtest.NewCase(s, kerneltest.Values)
		dx, first := make([]float32, len(want.WantDX)), []float32(nil)
		for _, groups := range kerneltest.GroupCounts() {
			m := kerneltest.HostMachine(t, groups)
			spec := m.Spec()
			p := &conv.Problem{Shape: s, Direction: shape.InputGradient, Spec: &spec}
			if err := direct.Spread.Refuses(p); err != nil {
				t.Fatalf("%v: %v", s, err)
			}
			k, err := direct.Spread.Kernel(m, p)
			if err != nil {
				t.Fatal(err)
			}
			run := func() {
				if err := k.Run(conv.Arrays{W: want.W, DY: want.DY, DX: dx}); err != nil {
					t.Fatal(err)
				}
			}
			if n := alloctest.PerRun(2, run); n != 0 {
				t.Errorf("%v: %d allocations a run", s, n)
			}
			kerneltest.Near(t, "dx", dx, want.WantDX, len(want.W)/s.C)
			if first == nil {
				first = slices.Clone(dx)
			} else if !slices.Equal(dx, first) {
				t.Errorf("%v: dx differs with %d core groups", s, groups)
			}
		}
	}
}
