package plan_test

import (
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/winograd"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
	"github.com/swcaffe/swcaffe/internal/testkit/racing"
)

func TestConvCostOnly(t *testing.T) {
	simdtest.SkipRepeated(t)
	racing.SkipSequential(t)
	shapes := convtest.Shapes
	if testing.Short() {
		shapes = convtest.FewShapes
	}
	for _, s := range append(slices.Clone(shapes), convtest.Shape2D(70, 3, 5, 1, 7, 7, 3, 3, 1, 1, 1), convtest.Shape2D(3, 4, 9, 1, 13, 70, 5, 5, 1, 2, 1)) {
		for _, st := range []shape.Strategy{shape.Auto, shape.Explicit, shape.Implicit, shape.Winograd2, shape.Winograd4, shape.Winograd5} {
			if st.IsWinograd() && !winograd.Has(&s, st) {
				continue
			}
			kerneltest.ChargesTheSame(t, st.String()+" "+s.String(), func(m *cpe.Machine) error {
				c, err := plan.New(m, s, st)
				if err != nil {
					return err
				}
				x, w, y := kerneltest.Array(m, 64000), kerneltest.Array(m, 64000), kerneltest.Array(m, 64000)
				if err := c.Run(shape.Forward, conv.Arrays{X: x, W: w, Y: y}); err != nil {
					return err
				}
				if err := c.Run(shape.WeightGradient, conv.Arrays{X: x, DY: y, DW: w, Add: true}); err != nil {
					return err
				}
				return c.Run(shape.InputGradient, conv.Arrays{DY: y, W: w, DX: x})
			})
		}
	}
}

// TestPublishedConvCostOnly: so it is with the kernels of the original.
func TestPublishedConvCostOnly(t *testing.T) {
	simdtest.SkipRepeated(t)
	racing.SkipSequential(t)
	for _, software := range []string{"swcaffe-source", "swcaffe-2019"} {
		spec := kerneltest.Published(t, software)
		for _, s := range append(slices.Clone(convtest.FewShapes), convtest.Shape2D(40, 130, 64, 1, 3, 5, 3, 3, 1, 1, 1)) {
			for _, st := range []shape.Strategy{shape.Auto, shape.Explicit, shape.Implicit} {
				kerneltest.ChargesTheSameOn(t, spec, software+" "+st.String()+" "+s.String(), func(m *cpe.Machine) error {
					c, err := plan.New(m, s, st)
					if err != nil {
						return err
					}
					x, w, y := kerneltest.Array(m, 140000), kerneltest.Array(m, 80000), kerneltest.Array(m, 140000)
					if err := c.Run(shape.Forward, conv.Arrays{X: x, W: w, Y: y}); err != nil {
						return err
					}
					if err := c.Run(shape.WeightGradient, conv.Arrays{X: x, DY: y, DW: w, Add: true}); err != nil {
						return err
					}
					return c.Run(shape.InputGradient, conv.Arrays{DY: y, W: w, DX: x})
				})
			}
		}
	}
}

// TestLedgersAreRepeatable: the same program charges the same again.
func TestLedgersAreRepeatable(t *testing.T) {
	m := kerneltest.Machine(t, "sw26010", true)
	c, err := plan.New(m, convtest.Shape2D(5, 16, 24, 2, 15, 17, 3, 3, 2, 1, 1), shape.Auto)
	if err != nil {
		t.Fatal(err)
	}
	var first cpe.Ledger
	for i := range 3 {
		m.ResetLedger()
		if err := c.Run(shape.Forward, conv.Arrays{}); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = m.Ledger()
		} else if l := m.Ledger(); l != first {
			t.Errorf("run %d: %+v, run 0: %+v", i, l, first)
		}
	}
}
