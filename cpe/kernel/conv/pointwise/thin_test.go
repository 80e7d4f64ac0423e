package pointwise_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/testkit/alloctest"
)

// atFront returns images in blocks with some pixels of each plane at its front, and NaN behind them.
func atFront(images []float32, plane int, at []int) []float32 {
	thin := slices.Repeat([]float32{float32(math.NaN())}, len(images))
	for from := 0; from < len(images); from += plane * shape.BlockLanes {
		for i, p := range at {
			copy(thin[from+i*shape.BlockLanes:][:shape.BlockLanes], images[from+p*shape.BlockLanes:])
		}
	}
	return thin
}

// TestThinConvolution: a convolution of thin images computes, in all directions, the bits that it computes of whole ones, up to rounding
// where it adds to a gradient; it reads and writes nothing behind the pixels, and allocates nothing.
func TestThinConvolution(t *testing.T) {
	for _, s := range []shape.Conv{
		convtest.Shape2D(2, 32, 48, 1, 9, 8, 1, 1, 2, 0, 1), convtest.Shape2D(3, 64, 16, 1, 14, 14, 1, 1, 2, 0, 1), convtest.Shape2D(2, 16, 37, 1, 31, 30, 1, 1, 3, 0, 1),
		convtest.Shape2D(1, 512, 320, 1, 8, 8, 1, 1, 2, 0, 1), convtest.Shape2D(9, 32, 32, 1, 2, 2, 1, 1, 2, 0, 1),
	} {
		t.Run(fmt.Sprint(s), func(t *testing.T) { testThinConvolution(t, s) })
	}
}

func testThinConvolution(t *testing.T, s shape.Conv) {
	at, plane := kerneltest.LeftBy(s.In[0], s.In[1], s.Stride[0], s.Stride[1]), tiling.Size(s.In)
	v := convtest.NewCase(s, kerneltest.Values)
	x := kerneltest.Lie(v.X, s.N*s.C, true, false)
	var made [2][4][]float32
	for i, thin := range []bool{false, true} {
		c, err := plan.New(kerneltest.HostMachine(t, 2), s, shape.Implicit)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.SetLayouts(shape.Blocks, shape.InBlocks(s.Out%shape.BlockLanes == 0)); err != nil {
			t.Fatal(err)
		}
		if h, w := c.Strides(); h != s.Stride[0] || w != s.Stride[1] {
			t.Fatalf("strides are %d and %d", h, w)
		}
		x, dx, sum, y, dw := x, slices.Clone(x), slices.Clone(x), slices.Clone(v.DY), slices.Clone(v.DW)
		if thin {
			x, dx, sum = atFront(x, plane, at), atFront(dx, plane, at), atFront(sum, plane, at)
			if err := c.SetLayouts(shape.FrontBlocks, shape.InBlocks(s.Out%shape.BlockLanes == 0)); err != nil {
				t.Fatal(err)
			}
		}
		run := func() {
			for _, err := range []error{
				c.Run(shape.Forward, conv.Arrays{X: x, W: v.W, Bias: v.Bias, Y: y}), c.Run(shape.WeightGradient, conv.Arrays{X: x, DY: v.DY, DW: dw}), c.Run(shape.InputGradient, conv.Arrays{DY: v.DY, W: v.W, DX: dx}), c.Run(shape.InputGradient, conv.Arrays{DY: v.DY, W: v.W, DX: sum, Add: true}),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		run()
		if !thin {
			dx, sum = atFront(dx, plane, at), atFront(sum, plane, at)
		}
		made[i] = [4][]float32{slices.Clone(y), slices.Clone(dw), slices.Clone(dx), slices.Clone(sum)}
		if allocs := alloctest.PerRun(2, run); allocs != 0 {
			t.Errorf("%d allocations a run", allocs)
		}
	}
	for i, name := range []string{"results", "weights' gradient", "images' gradient", "sum of gradients"} {
		var tolerance float64
		if i == 3 {
			tolerance = 1e-6 * float64(s.Out)
		}
		for k, w := range made[0][i] {
			got, want := float64(made[1][i][k]), float64(w)
			if !(math.Abs(got-want) <= tolerance) && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Errorf("%s: value %d of thin images is %g, %g of whole ones", name, k, got, want)
				break
			}
		}
	}
}
