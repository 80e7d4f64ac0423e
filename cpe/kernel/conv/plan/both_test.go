package plan_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// TestConvGrads: both gradients at once have the bits of one after the other, on any number of core groups, however images and results lie.
func TestConvGrads(t *testing.T) {
	planes, in, out, both := [2]bool{}, [2]bool{true, false}, [2]bool{false, true}, [2]bool{true, true}
	for _, tt := range []struct {
		shape shape.Conv
		lie   [][2]bool
	}{
		{convtest.Shape2D(17, 5, 7, 1, 12, 12, 5, 5, 1, 0, 1), [][2]bool{planes}},
		{convtest.Shape2D(16, 2, 3, 1, 3, 3, 5, 5, 1, 6, 1), [][2]bool{planes}},
		{convtest.Shape2D(35, 34, 18, 1, 7, 9, 3, 3, 1, 1, 1), [][2]bool{planes}},
		{convtest.Shape2D(17, 32, 16, 1, 5, 8, 3, 3, 1, 0, 1), [][2]bool{planes, in, out, both}},
	} {
		convtest.EachWinograd(tt.shape, func(st shape.Strategy) {
			for i, lie := range tt.lie {
				c, err := plan.New(kerneltest.HostMachine(t, []int{2, 5, 1}[i%3]), tt.shape, st)
				if err != nil {
					t.Fatal(err)
				}
				if err := c.SetLayouts(shape.InBlocks(lie[0]), shape.InBlocks(lie[1])); err != nil {
					t.Fatal(err)
				}
				testGrads(t, c, tt.shape, lie)
			}
		})
	}
}

// testGrads compares the gradients of a convolution, added and not, of biases too and not, and rectified where they can be.
func testGrads(t *testing.T, c *plan.Conv, s shape.Conv, lie [2]bool) {
	t.Helper()
	if !c.JoinsGrads() {
		t.Fatalf("%v %v: gradients are not computed together", s, convtest.StrategiesOf(c))
	}
	x, w, dy := kerneltest.Values(s.N*s.C*tiling.Size(s.In), 1), kerneltest.Values(s.Out*s.Depth(), 2), kerneltest.Values(s.N*s.Out*tiling.Size(s.OutSize()), 3)
	for i := range 8 {
		name := fmt.Sprintf("%v %v, blocks %v, case %d", s, convtest.StrategiesOf(c), lie, i)
		g := conv.Arrays{X: x, W: w, DY: dy, DX: make([]float32, len(x)), DW: kerneltest.Values(len(w), 4), Add: i&1 > 0}
		dx, dw, db := slices.Clone(g.DX), slices.Clone(g.DW), kerneltest.Values(s.Out, 5)
		if i&2 > 0 {
			g.DB = slices.Clone(db)
		}
		above := i&4 > 0 && c.Does(shape.InputGradient, op.Mask)
		if above {
			g.Above = x
		}
		if err := c.Run(shape.BothGradients, g); err != nil {
			t.Fatal(err)
		}
		if err := c.Run(shape.WeightGradient, conv.Arrays{X: x, DY: dy, DW: dw, DB: db, Add: g.Add}); err != nil {
			t.Fatal(err)
		}
		inputGrad := func() error { return c.Run(shape.InputGradient, conv.Arrays{DY: dy, W: w, DX: dx}) }
		if above {
			inputGrad = func() error { return c.Run(shape.InputGradient, conv.Arrays{DY: dy, W: w, DX: dx, Above: x}) }
		}
		if err := inputGrad(); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(g.DX, dx) || !slices.Equal(g.DW, dw) || g.DB != nil && !slices.Equal(g.DB, db) {
			t.Errorf("%s: dx, dw or db is another than one by one", name)
		}
	}
}

// TestConvGradsApart: gradients are computed one by one where strategies differ, a kernel of their own does not compute both, or what is
// fastest is still to be found; and together as soon as that is known.
func TestConvGradsApart(t *testing.T) {
	small := convtest.Shape2D(16, 20, 50, 1, 12, 12, 5, 5, 1, 0, 1)
	for name, c := range map[string]struct {
		shape shape.Conv
		st    shape.Strategy
		want  bool
	}{
		"small":      {small, shape.Winograd4, true},
		"implicit":   {small, shape.Implicit, false},
		"few images": {convtest.Shape2D(15, 20, 50, 1, 12, 12, 5, 5, 1, 0, 1), shape.Winograd4, false},
	} {
		layer, err := plan.New(kerneltest.HostMachine(t, 2), c.shape, c.st)
		if err != nil {
			t.Fatal(err)
		}
		if layer.JoinsGrads() != c.want {
			t.Errorf("%s: gradients together: %v, want %v", name, layer.JoinsGrads(), c.want)
		}
	}
	u := convtest.NewScripted(t, shape.Winograd4)
	for _, d := range []shape.Direction{shape.WeightGradient, shape.InputGradient} {
		layer, err := plan.NewTuned(kerneltest.HostMachine(t, 2), small, op.Types{}, u)
		if err != nil {
			t.Fatal(err)
		}
		if layer.JoinsGrads() {
			t.Errorf("gradients are computed together before the strategy of the %v is known", d)
		}
		if err := u.Measured(conv.Key{Shape: small, Direction: d}, nil); err != nil {
			t.Fatal(err)
		}
	}
	layer, err := plan.NewTuned(kerneltest.HostMachine(t, 2), small, op.Types{}, u)
	if err != nil {
		t.Fatal(err)
	}
	testGrads(t, layer, small, [2]bool{})
}
