package kernel

import (
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/internal/simd/isa"
)

var phasedShapes = []ConvShape{
	conv2(2, 5, 7, 1, 12, 13, 3, 3, 2, 1, 1),
	conv2(3, 6, 8, 2, 15, 9, 4, 4, 2, 1, 1),
	conv2(2, 26, 9, 1, 13, 40, 5, 5, 2, 2, 1),
	conv2(1, 5, 3, 1, 56, 72, 16, 16, 8, 4, 1), // phases that meet the same places
	conv2(2, 3, 4, 1, 11, 13, 2, 2, 3, 0, 1),   // pixels that no output meets
	conv2(2, 3, 4, 1, 12, 12, 2, 2, 2, 0, 1),
	conv2(2, 4, 3, 1, 16, 15, 3, 3, 2, 2, 2), // and, as strides and dilations are alike, phases without any
	conv2(1, 2, 3, 1, 17, 14, 3, 3, 3, 2, 2),
	conv2(9, 70, 33, 1, 8, 8, 4, 4, 2, 1, 1), // some images at a time, channels of more than one block
	conv2(9, 4, 5, 1, 7, 9, 5, 3, 2, 3, 1),
	conv2(1, 8, 130, 1, 71, 230, 3, 3, 2, 1, 1), // bands of lines
	conv2(1, 2, 3, 1, 4, 5, 3, 3, 2, 5, 1),      // outputs in the padding alone
	{2, 3, 5, 1, []int{9, 14}, []int{3, 5}, []int{1, 2}, []int{1, 0}, []int{1, 1}},
	{2, 3, 5, 1, []int{14, 9}, []int{5, 3}, []int{3, 1}, []int{0, 2}, []int{1, 2}},
	{3, 4, 6, 2, []int{37}, []int{5}, []int{2}, []int{1}, []int{1}},
	{1, 1, 1, 1, []int{7, 60}, []int{1, 11}, []int{2, 1}, []int{5, 0}, []int{1, 3}}, // more zeros ahead of a line than lanes of two vectors
}

// TestPhases: input gradients with strides are right, and have the same bits on any number of core groups.
func TestPhases(t *testing.T) {
	for _, s := range phasedShapes {
		t.Run(s.String(), func(t *testing.T) {
			if !s.phased() {
				t.Fatal("not computed by phases")
			}
			want := newConvCase(s, values)
			var first []float32
			for _, groups := range []int{1, 2, 5} {
				c, err := NewConv(hostMachine(t, groups), s, Implicit)
				if err != nil {
					t.Fatal(err)
				}
				if got := c.Plan().Strategy[InputGradient]; got != Implicit {
					t.Fatalf("strategy %v", got)
				}
				for range 2 { // the second run meets used buffers
					_, dx := want.run(t, c)
					near(t, "dx", dx, want.wantDX, len(want.w)/s.C)
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
	if !isa.Vectors() {
		t.Skip("the model's figures are those of machines with vectors")
	}
	spec := hostSpec(t)
	for _, c := range []struct {
		s    ConvShape
		want Strategy
	}{
		{conv2(8, 128, 128, 1, 56, 56, 3, 3, 2, 1, 1), Implicit},
		{conv2(8, 512, 1024, 1, 8, 8, 4, 4, 2, 1, 1), Implicit},
		{conv2(1, 21, 21, 1, 280, 280, 16, 16, 8, 4, 1), Implicit},
		{conv2(8, 3, 64, 1, 224, 224, 7, 7, 2, 3, 1), Explicit},
		{conv2(4, 512, 512, 1, 7, 7, 3, 3, 2, 1, 1), Implicit},
		{conv2(1, 512, 512, 1, 7, 7, 3, 3, 2, 1, 1), Implicit},
		{conv2(1, 1, 45, 1, 12, 11, 5, 3, 2, 0, 1), Explicit},
	} {
		for _, spec.CoreGroups = range []int{1, 2, 3, 8, 16} {
			if got := hostStrategy(&spec, c.s, InputGradient); got != c.want {
				t.Errorf("%v on %d core groups: %v, want %v", c.s, spec.CoreGroups, got, c.want)
			}
		}
	}
}
