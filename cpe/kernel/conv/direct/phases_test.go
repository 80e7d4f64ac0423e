package direct_test

import (
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
)

var phasedShapes = []shape.Conv{
	convtest.Shape2D(2, 5, 7, 1, 12, 13, 3, 3, 2, 1, 1),
	convtest.Shape2D(3, 6, 8, 2, 15, 9, 4, 4, 2, 1, 1),
	convtest.Shape2D(2, 26, 9, 1, 13, 40, 5, 5, 2, 2, 1),
	convtest.Shape2D(1, 5, 3, 1, 56, 72, 16, 16, 8, 4, 1), // phases that meet the same places
	convtest.Shape2D(2, 3, 4, 1, 11, 13, 2, 2, 3, 0, 1),   // pixels that no output meets
	convtest.Shape2D(2, 3, 4, 1, 12, 12, 2, 2, 2, 0, 1),
	convtest.Shape2D(2, 4, 3, 1, 16, 15, 3, 3, 2, 2, 2), // and, as strides and dilations are alike, phases without any
	convtest.Shape2D(1, 2, 3, 1, 17, 14, 3, 3, 3, 2, 2),
	convtest.Shape2D(9, 70, 33, 1, 8, 8, 4, 4, 2, 1, 1), // some images at a time, channels of more than one block
	convtest.Shape2D(9, 4, 5, 1, 7, 9, 5, 3, 2, 3, 1),
	convtest.Shape2D(1, 8, 130, 1, 71, 230, 3, 3, 2, 1, 1), // bands of lines
	convtest.Shape2D(1, 2, 3, 1, 4, 5, 3, 3, 2, 5, 1),      // outputs in the padding alone
	{N: 2, C: 3, Out: 5, Group: 1, In: []int{9, 14}, Kernel: []int{3, 5}, Stride: []int{1, 2}, Pad: []int{1, 0}, Dilation: []int{1, 1}},
	{N: 2, C: 3, Out: 5, Group: 1, In: []int{14, 9}, Kernel: []int{5, 3}, Stride: []int{3, 1}, Pad: []int{0, 2}, Dilation: []int{1, 2}},
	{N: 3, C: 4, Out: 6, Group: 2, In: []int{37}, Kernel: []int{5}, Stride: []int{2}, Pad: []int{1}, Dilation: []int{1}},
	{N: 1, C: 1, Out: 1, Group: 1, In: []int{7, 60}, Kernel: []int{1, 11}, Stride: []int{2, 1}, Pad: []int{5, 0}, Dilation: []int{1, 3}}, // more zeros ahead of a line than lanes of two vectors
}

// TestPhases: input gradients with strides are right, and have the same bits on any number of core groups.
func TestPhases(t *testing.T) {
	for _, s := range phasedShapes {
		t.Run(s.String(), func(t *testing.T) {
			if !conv.HasPhases(&s) {
				t.Fatal("not computed by phases")
			}
			want := convtest.NewCase(s, kerneltest.Values)
			var first []float32
			for _, groups := range kerneltest.GroupCounts() {
				c, err := plan.New(kerneltest.HostMachine(t, groups), s, shape.Implicit)
				if err != nil {
					t.Fatal(err)
				}
				if got := convtest.StrategiesOf(c)[shape.InputGradient]; got != shape.Implicit {
					t.Fatalf("strategy %v", got)
				}
				for range 2 { // the second run meets used buffers
					_, dx := want.Run(t, c)
					kerneltest.Near(t, "dx", dx, want.WantDX, len(want.W)/s.C)
					if first != nil && !slices.Equal(dx, first) {
						t.Errorf("dx differs with %d core groups", groups)
					}
					first = dx
				}
			}
		})
	}
}

// TestPhasedStrategy: columns are left to gradients of few channels, whose products would not fill panels. Core groups share images then, so
// that a batch of one image, whose weights are used but a few times, is left to phases. The choice does not depend on the number of core
// groups: strategies add up in different orders, and results must have the same bits on any number.
func TestPhasedStrategy(t *testing.T) {
	if isa.Lanes() == 0 {
		t.Skip("the model's figures are those of machines with vectors")
	}
	spec := kerneltest.HostSpec(t)
	for _, c := range []struct {
		s    shape.Conv
		want shape.Strategy
	}{
		{convtest.Shape2D(8, 128, 128, 1, 56, 56, 3, 3, 2, 1, 1), shape.Implicit},
		{convtest.Shape2D(8, 512, 1024, 1, 8, 8, 4, 4, 2, 1, 1), shape.Implicit},
		{convtest.Shape2D(1, 21, 21, 1, 280, 280, 16, 16, 8, 4, 1), shape.Implicit},
		{convtest.Shape2D(8, 3, 64, 1, 224, 224, 7, 7, 2, 3, 1), shape.Explicit},
		{convtest.Shape2D(4, 512, 512, 1, 7, 7, 3, 3, 2, 1, 1), shape.Implicit},
		{convtest.Shape2D(1, 512, 512, 1, 7, 7, 3, 3, 2, 1, 1), shape.Implicit},
		{convtest.Shape2D(1, 1, 45, 1, 12, 11, 5, 3, 2, 0, 1), shape.Explicit},
	} {
		for _, spec.CoreGroups = range []int{1, 2, 3, 8, 16} {
			if got := convtest.StrategiesFor(t, &spec, c.s, shape.Auto)[shape.InputGradient]; got != c.want {
				t.Errorf("%v on %d core groups: %v, want %v", c.s, spec.CoreGroups, got, c.want)
			}
		}
	}
}
