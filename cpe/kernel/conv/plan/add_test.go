package plan_test

import (
	"math"
	"slices"
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

// TestAddInputGrad: where a convolution can add the gradient of its images, it adds what it would write.
func TestAddInputGrad(t *testing.T) {
	for _, tt := range []struct {
		shape shape.Conv
		adds  bool // on the host
	}{
		{convtest.Shape2D(3, 7, 20, 1, 9, 11, 1, 1, 1, 0, 1), true},
		{convtest.Shape2D(2, 300, 70, 1, 14, 14, 1, 1, 1, 0, 1), true},
		{convtest.Shape2D(2, 8, 12, 4, 6, 5, 1, 1, 1, 0, 1), true},
		{convtest.Shape2D(2, 40, 33, 1, 15, 14, 1, 1, 2, 0, 1), true},
		{convtest.Shape2D(1, 5, 6, 1, 10, 7, 1, 1, 3, 0, 1), true},
		{convtest.Shape2D(2, 6, 5, 1, 9, 9, 3, 3, 1, 1, 1), false},
		{convtest.Shape2D(2, 6, 5, 1, 9, 9, 1, 1, 1, 1, 1), false},
	} {
		kerneltest.OnMachines(t, func(t *testing.T, m *cpe.Machine) {
			s := tt.shape
			c, err := plan.New(m, s, shape.Auto)
			if err != nil {
				t.Fatal(err)
			}
			if adds := c.Does(shape.InputGradient, op.Add); adds != (tt.adds && m.Native()) {
				t.Fatalf("%v adds to the images' gradient: %v", s, adds)
			}
			if !m.Native() {
				return
			}
			n := s.N * s.C * tiling.Size(s.In)
			dy, w := kerneltest.Values(s.N*s.Out*tiling.Size(s.OutSize()), 1), kerneltest.Values(s.Out*s.Depth(), 2)
			dx, sum, want := make([]float32, n), kerneltest.Values(n, 3), make([]float64, n)
			if err := c.Run(shape.InputGradient, conv.Arrays{DY: dy, W: w, DX: dx}); err != nil {
				t.Fatal(err)
			}
			for i, v := range dx {
				want[i] = float64(v) + float64(sum[i])
			}
			if err := c.Run(shape.InputGradient, conv.Arrays{DY: dy, W: w, DX: sum, Add: true}); err != nil {
				t.Fatal(err)
			}
			kerneltest.Near(t, s.String(), sum, want, s.Out)
		})
	}
}

// TestSetWeightGrad: where a convolution can overwrite the gradient of its weights, it writes what it would add, whatever was there.
func TestSetWeightGrad(t *testing.T) {
	m := kerneltest.HostMachine(t, 2)
	for _, tt := range []struct {
		shape   shape.Conv
		st      shape.Strategy
		in, out bool // in blocks
		sets    bool
	}{
		{convtest.Shape2D(3, 32, 48, 1, 9, 11, 1, 1, 1, 0, 1), shape.Auto, true, true, true},
		{convtest.Shape2D(2, 20, 32, 1, 12, 14, 1, 1, 1, 0, 1), shape.Auto, false, true, true},
		{convtest.Shape2D(2, 32, 37, 1, 15, 14, 1, 1, 2, 0, 1), shape.Auto, true, false, true},
		{convtest.Shape2D(2, 32, 32, 1, 15, 14, 1, 1, 2, 0, 1), shape.Auto, false, false, false},
		{convtest.Shape2D(2, 3, 48, 1, 21, 20, 5, 5, 2, 1, 1), shape.Auto, false, true, true},
		{convtest.Shape2D(2, 35, 20, 1, 12, 14, 3, 3, 1, 1, 1), shape.Winograd4, false, false, true},
		{convtest.Shape2D(9, 272, 304, 1, 24, 13, 3, 3, 1, 1, 1), shape.Winograd4, false, false, true},
		{convtest.Shape2D(2, 40, 22, 2, 12, 14, 3, 3, 1, 1, 1), shape.Winograd2, false, false, true},
		{convtest.Shape2D(17, 16, 32, 1, 7, 6, 5, 5, 1, 2, 1), shape.Winograd4, true, true, true},
		{convtest.Shape2D(35, 34, 18, 1, 7, 9, 3, 3, 1, 1, 1), shape.Winograd4, false, false, true},
		{convtest.Shape2D(2, 35, 20, 1, 12, 14, 3, 3, 1, 1, 1), shape.Implicit, false, false, false},
		{convtest.Shape2D(1, 35, 20, 1, 12, 14, 3, 3, 1, 1, 1), shape.Implicit, false, false, true},
	} {
		s := tt.shape
		c, err := plan.New(m, s, tt.st)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.SetLayouts(shape.InBlocks(tt.in), shape.InBlocks(tt.out)); err != nil {
			t.Fatal(err)
		}
		if c.Does(shape.WeightGradient, op.Overwrite) != tt.sets {
			t.Errorf("%v sets the weights' gradient: %v", s, !tt.sets)
		}
		x, dy := kerneltest.Values(s.N*s.C*tiling.Size(s.In), 1), kerneltest.Values(s.N*s.Out*tiling.Size(s.OutSize()), 2)
		want, got := make([]float32, s.Out*s.Depth()), slices.Repeat([]float32{float32(math.NaN())}, s.Out*s.Depth())
		if err := c.Run(shape.WeightGradient, conv.Arrays{X: x, DY: dy, DW: want, Add: true}); err != nil {
			t.Fatal(err)
		}
		var db []float32
		if c.Does(shape.WeightGradient, op.SumBiases) {
			db = make([]float32, s.Out)
		}
		if err := c.Run(shape.WeightGradient, conv.Arrays{X: x, DY: dy, DW: got, DB: db}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v: a gradient that was written is another than one that was added to zeros", s)
		}
	}
}
