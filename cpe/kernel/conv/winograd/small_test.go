package winograd_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

var smallShapes = []shape.Conv{
	convtest.Shape2D(17, 5, 7, 1, 12, 12, 5, 5, 1, 0, 1), // chunks and blocks of different lengths
	convtest.Shape2D(16, 20, 50, 1, 6, 7, 5, 5, 1, 2, 1),
	convtest.Shape2D(16, 2, 3, 1, 3, 3, 5, 5, 1, 6, 1), // padding for the input gradient would be negative
	convtest.Shape2D(35, 34, 18, 1, 7, 9, 3, 3, 1, 1, 1),
	{N: 16, C: 1, Out: 1, Group: 1, In: []int{6, 10}, Kernel: []int{3, 3}, Stride: []int{1, 1}, Pad: []int{0, 2}, Dilation: []int{1, 1}},
	convtest.Shape2D(19, 16, 32, 1, 8, 8, 3, 3, 1, 2, 1),
}

// TestWinogradSmall: gradients of small images with few channels have the same bits on any number of core groups.
func TestWinogradSmall(t *testing.T) {
	for _, s := range smallShapes {
		want := convtest.NewCase(s, convtest.Normal)
		convtest.EachWinograd(s, func(st shape.Strategy) {
			t.Run(st.String()+" "+s.String(), func(t *testing.T) {
				convtest.CompareWinograd(t, kerneltest.HostMachine(t, 2), s, st, want)
				first := smallGradients(t, 1, s, st, want)
				for _, groups := range []int{2, 5} {
					got := smallGradients(t, groups, s, st, want)
					for i, what := range []string{"dw", "dx", "db"} {
						if !slices.Equal(got[i], first[i]) {
							t.Errorf("%s differs with %d core groups", what, groups)
						}
					}
				}
			})
		})
	}
}

// smallGradients returns the gradients of weights, images and biases.
func smallGradients(t *testing.T, groups int, s shape.Conv, st shape.Strategy, want *convtest.Case) [3][]float32 {
	t.Helper()
	c, err := plan.New(kerneltest.HostMachine(t, groups), s, st)
	if err != nil {
		t.Fatal(err)
	}
	if !c.Does(shape.WeightGradient, op.SumBiases) || !isSmall(c, shape.WeightGradient) || !isSmall(c, shape.InputGradient) || isSmall(c, shape.Forward) {
		t.Fatal("not computed image by image")
	}
	_, dx := want.Run(t, c)
	dw, db := slices.Clone(want.DW), slices.Clone(want.Bias)
	if err := c.Run(shape.WeightGradient, conv.Arrays{X: want.X, DY: want.DY, DW: dw, DB: db, Add: true}); err != nil {
		t.Fatal(err)
	}
	kerneltest.Near(t, "db", db, want.BiasGrads(s), len(want.DY)/s.Out)
	alone := slices.Clone(want.DW)
	if err := c.Run(shape.WeightGradient, conv.Arrays{X: want.X, DY: want.DY, DW: alone, Add: true}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(alone, dw) {
		t.Error("dw differs without db")
	}
	return [3][]float32{dw, dx, db}
}

// TestWinogradSmallBlocks: images and results in blocks of channels.
func TestWinogradSmallBlocks(t *testing.T) {
	for _, s := range []shape.Conv{convtest.Shape2D(16, 16, 32, 1, 7, 6, 5, 5, 1, 2, 1), convtest.Shape2D(17, 32, 16, 1, 5, 8, 3, 3, 1, 0, 1)} {
		want := convtest.NewCase(s, convtest.Normal)
		convtest.EachWinograd(s, func(st shape.Strategy) {
			t.Run(st.String()+" "+s.String(), func(t *testing.T) { convtest.CompareBlocks(t, kerneltest.HostMachine(t, 2), s, st, want) })
		})
	}
}

// TestWinogradNotSmall: other convolutions are computed otherwise.
func TestWinogradNotSmall(t *testing.T) {
	for name, s := range map[string]shape.Conv{
		"few images":    convtest.Shape2D(15, 5, 7, 1, 12, 12, 3, 3, 1, 0, 1),
		"large images":  convtest.Shape2D(16, 3, 4, 1, 30, 20, 3, 3, 1, 1, 1),
		"many channels": convtest.Shape2D(16, 120, 110, 1, 4, 4, 3, 3, 1, 1, 1),
		"groups":        convtest.Shape2D(16, 6, 4, 2, 8, 8, 3, 3, 1, 1, 1),
	} {
		c, err := plan.New(kerneltest.HostMachine(t, 2), s, shape.Winograd4)
		if err != nil {
			t.Fatal(err)
		}
		if isSmall(c, shape.WeightGradient) || isSmall(c, shape.InputGradient) {
			t.Errorf("%s: computed image by image", name)
		}
	}
}

// isSmall reports whether smallKernel computes a direction.
func isSmall(c *plan.Conv, d shape.Direction) bool {
	return strings.HasSuffix(string(c.Algorithm(d)), "-small")
}
