package plan_test

import (
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// TestStarts counts the starts of the CPEs' threads in a direction of a convolution. Ours are one for each step that needs all core groups, and one
// for each core group's partial gradient. Explicit convolutions of 2018 start threads for the im2col of a core group's images together, or for the
// im2col or col2im of each, and for each product. Winograd's of 2019 starts them for the product of each point, of which a core group has four.
func TestStarts(t *testing.T) {
	small := convtest.Shape2D(16, 64, 64, 1, 14, 14, 3, 3, 1, 1, 1)
	wide := convtest.Shape2D(256, 8, 64, 1, 160, 160, 3, 3, 1, 1, 1) // a line of 64 images does not fit LDM
	grouped := convtest.Shape2D(16, 64, 64, 2, 14, 14, 3, 3, 1, 1, 1)
	few := convtest.Shape2D(16, 3, 64, 1, 14, 14, 3, 3, 1, 1, 1) // its products forward are left to the management cores
	point := convtest.Shape2D(16, 64, 64, 1, 14, 14, 1, 1, 1, 0, 1)
	fewPoints := convtest.Shape2D(16, 16, 64, 1, 14, 14, 1, 1, 1, 0, 1)
	for _, c := range []struct {
		name, software string
		shape          shape.Conv
		strategy       shape.Strategy
		starts         [3]int // by direction
	}{
		{"small", "swcaffe", small, shape.Explicit, [...]int{shape.Forward: 1, shape.WeightGradient: 5, shape.InputGradient: 1}},
		{"small", "swcaffe-2018", small, shape.Explicit, [...]int{shape.Forward: 1 + 4, shape.WeightGradient: 1 + 4 + 4, shape.InputGradient: 2 * 4}},
		{"grouped", "swcaffe-2018", grouped, shape.Explicit, [...]int{shape.Forward: 2 + 8, shape.WeightGradient: 2 + 8 + 4, shape.InputGradient: 4 + 8}},
		{"wide", "swcaffe-2018", wide, shape.Explicit, [...]int{shape.Forward: 2 * 64, shape.WeightGradient: 2*64 + 4, shape.InputGradient: 2 * 64}},
		{"few channels", "swcaffe-2018", few, shape.Explicit, [...]int{shape.Forward: 1, shape.WeightGradient: 1 + 4 + 4, shape.InputGradient: 2 * 4}},
		{"pointwise", "swcaffe-2018", point, shape.Explicit, [...]int{shape.Forward: 4, shape.WeightGradient: 4 + 4, shape.InputGradient: 4}},
		{"pointwise, few channels", "swcaffe-2018", fewPoints, shape.Explicit, [...]int{shape.Forward: 0, shape.WeightGradient: 4 + 4, shape.InputGradient: 4}},
		{"small", "swcaffe", small, shape.Winograd2, [...]int{shape.Forward: 4, shape.WeightGradient: 3, shape.InputGradient: 4}},
		{"small", "swcaffe-2019", small, shape.Winograd2, [...]int{shape.Forward: 3 + 4, shape.WeightGradient: 2 + 4, shape.InputGradient: 3 + 4}},
	} {
		for d, want := range c.starts {
			var times [2]cpe.VTime
			for i := range times {
				spec, err := kerneltest.Machine(t, "sw26010", true).Spec().WithSoftware(c.software)
				if err != nil {
					t.Fatal(err)
				}
				if i == 0 {
					spec.MPE.StartUs = 0
				}
				m, err := cpe.New(spec, cpe.CostOnly)
				if err != nil {
					t.Fatal(err)
				}
				defer m.Close()
				layer, err := plan.New(m, c.shape, c.strategy)
				if err != nil {
					t.Fatal(err)
				}
				m.ResetLedger()
				if err := layer.Run(shape.Direction(d), conv.Arrays{Add: shape.Direction(d) == shape.WeightGradient}); err != nil {
					t.Fatal(err)
				}
				times[i] = m.Ledger().Time
			}
			s := kerneltest.Machine(t, "sw26010", true).Spec()
			if got := times[1] - times[0]; got != cpe.VTime(want)*s.StartTime() {
				t.Errorf("%s, %s %v, %v: %.2f starts, want %d", c.name, c.software, c.strategy, shape.Direction(d), got.Seconds()/s.StartTime().Seconds(), want)
			}
		}
	}
}
