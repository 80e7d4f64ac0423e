package plan_test

import (
	"fmt"
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
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// TestForwardReLU: with Winograd's strategies, and others where images or results lie in blocks, results are those of Forward, floored
// at 0.
func TestForwardReLU(t *testing.T) {
	for _, s := range []shape.Conv{
		convtest.Shape2D(2, 16, 32, 1, 12, 13, 3, 3, 1, 1, 1),
		convtest.Shape2D(3, 5, 20, 1, 9, 11, 3, 3, 1, 0, 1),
		convtest.Shape2D(2, 3, 48, 1, 23, 24, 11, 11, 4, 0, 1),
		convtest.Shape2D(1, 112, 40, 1, 8, 9, 3, 3, 2, 1, 1),
		convtest.Shape2D(2, 32, 32, 2, 6, 11, 5, 5, 1, 2, 1),
		convtest.Shape2D(2, 6, 10, 2, 17, 15, 3, 3, 1, 1, 2),
		convtest.Shape2D(1, 416, 400, 1, 4, 5, 3, 3, 1, 1, 1),
		convtest.Shape2D(2, 300, 70, 1, 14, 14, 1, 1, 1, 0, 1),
		convtest.Shape2D(2, 528, 48, 1, 7, 9, 1, 1, 1, 0, 1),
		convtest.Shape2D(2, 48, 80, 1, 15, 14, 1, 1, 2, 0, 1),
		convtest.Shape2D(2, 16, 24, 4, 5, 5, 1, 1, 1, 0, 1),
		convtest.Shape2D(2, 16, 16, 1, 5, 5, 1, 1, 1, 1, 1),
	} {
		m := kerneltest.HostMachine(t, 2)
		spec := m.Spec()
		for _, st := range shape.Strategies {
			if convtest.Has(&spec, s, st, shape.Forward) || st == shape.Auto {
				t.Run(fmt.Sprint(st, s), func(t *testing.T) { testForwardReLU(t, m, s, st) })
			}
		}
	}
}

func testForwardReLU(t *testing.T, m *cpe.Machine, s shape.Conv, st shape.Strategy) {
	c, err := plan.New(m, s, st)
	if err != nil {
		t.Fatal(err)
	}
	x, w, bias := kerneltest.Values(s.N*s.C*tiling.Size(s.In), 1), kerneltest.Values(s.Out*s.Depth(), 2), kerneltest.Values(s.Out, 3)
	canIn, canOut := c.Blocks()
	for _, way := range [][2]bool{{}, {true, false}, {false, true}, {true, true}} {
		if way[0] && !canIn || way[1] && !canOut {
			continue
		}
		if err := c.SetLayouts(shape.InBlocks(way[0]), shape.InBlocks(way[1])); err != nil {
			t.Fatal(err)
		}
		name := string(c.Algorithm(shape.Forward))
		apart := way == [2]bool{} && (convtest.StrategiesOf(c)[shape.Forward] == shape.Explicit || strings.HasPrefix(name, "thinned"))
		if c.Does(shape.Forward, op.Floor) == apart {
			t.Fatalf("blocks %v: %s rectifies: %t", way, name, !apart)
		}
		for _, bias := range [][]float32{nil, bias} {
			y := make([]float32, s.N*s.Out*tiling.Size(s.OutSize()))
			want := slices.Clone(y)
			if err := c.Run(shape.Forward, conv.Arrays{X: x, W: w, Bias: bias, Y: want}); err != nil {
				t.Fatal(err)
			}
			if err := c.Run(shape.Forward, conv.Arrays{X: x, W: w, Bias: bias, Y: y, Floor: true}); err != nil {
				t.Fatal(err)
			}
			for i, v := range want {
				if y[i] != max(0, v) {
					t.Fatalf("blocks %v, bias %t: value %d is %g, want that of %g", way, bias != nil, i, y[i], v)
				}
			}
		}
	}
}

// TestInputGradWhere: where images lie in blocks and the strategy is one of Winograd's, gradients are those of InputGrad, or 0.
func TestInputGradWhere(t *testing.T) {
	for _, s := range []shape.Conv{
		convtest.Shape2D(2, 32, 16, 1, 12, 13, 3, 3, 1, 1, 1),
		convtest.Shape2D(1, 48, 12, 1, 8, 8, 3, 3, 1, 1, 1),
		convtest.Shape2D(3, 64, 32, 2, 7, 6, 3, 3, 1, 0, 1),
		convtest.Shape2D(2, 16, 48, 1, 14, 15, 5, 5, 1, 2, 1),
		convtest.Shape2D(1, 416, 400, 1, 4, 5, 3, 3, 1, 1, 1),
		convtest.Shape2D(17, 32, 24, 1, 8, 8, 5, 5, 1, 2, 1),
		convtest.Shape2D(16, 16, 16, 1, 6, 7, 3, 3, 1, 0, 1),
	} {
		convtest.EachWinograd(s, func(st shape.Strategy) {
			t.Run(fmt.Sprint(st, s), func(t *testing.T) { testInputGradWhere(t, s, st) })
		})
	}
}

func testInputGradWhere(t *testing.T, s shape.Conv, st shape.Strategy) {
	c, err := plan.New(kerneltest.HostMachine(t, 2), s, st)
	if err != nil {
		t.Fatal(err)
	}
	if c.Does(shape.InputGradient, op.Mask) {
		t.Fatal("rectifies gradients by planes")
	}
	_, canOut := c.Blocks()
	if err := c.SetLayouts(shape.Blocks, shape.InBlocks(canOut)); err != nil {
		t.Fatal(err)
	}
	if !c.Does(shape.InputGradient, op.Mask) {
		t.Fatal("does not rectify gradients in blocks")
	}
	dy, w, x := kerneltest.Values(s.N*s.Out*tiling.Size(s.OutSize()), 1), kerneltest.Values(s.Out*s.Depth(), 2), kerneltest.Values(s.N*s.C*tiling.Size(s.In), 3)
	dx, want := make([]float32, len(x)), make([]float32, len(x))
	if err := c.Run(shape.InputGradient, conv.Arrays{DY: dy, W: w, DX: want}); err != nil {
		t.Fatal(err)
	}
	if err := c.Run(shape.InputGradient, conv.Arrays{DY: dy, W: w, DX: dx, Above: x}); err != nil {
		t.Fatal(err)
	}
	for i, v := range want {
		if x[i] <= 0 {
			v = 0
		}
		if dx[i] != v {
			t.Fatalf("value %d is %g, want %g", i, dx[i], v)
		}
	}
}
