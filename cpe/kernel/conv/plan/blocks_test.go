package plan_test

import (
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// TestTurns: what is brought from planes to blocks of channels, or back, is counted where a kernel does that, in all three directions.
func TestTurns(t *testing.T) {
	for name, c := range map[string]struct {
		shape shape.Conv
		st    shape.Strategy
		want  int
	}{
		"images and results of Winograd's": {convtest.Shape2D(2, 16, 32, 1, 9, 9, 3, 3, 1, 1, 1), shape.Winograd4, 6},
		"results of few channels":          {convtest.Shape2D(2, 3, 32, 1, 9, 9, 5, 5, 1, 2, 1), shape.Implicit, 2},
		"vectors of pixels forward":        {convtest.Shape2D(2, 1, 20, 1, 28, 28, 5, 5, 1, 0, 1), shape.Implicit, 1},
		"columns":                          {convtest.Shape2D(2, 64, 32, 1, 9, 9, 5, 5, 2, 2, 1), shape.Implicit, 0},
	} {
		layer, err := plan.New(kerneltest.HostMachine(t, 2), c.shape, c.st)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := layer.Turns(); got != c.want {
			t.Errorf("%s: %d turns, want %d", name, got, c.want)
		}
	}
}

// TestConvBlocks holds convolutions of images and to results in blocks of channels against those of the same images by planes, bit by
// bit.
func TestConvBlocks(t *testing.T) {
	for _, s := range []shape.Conv{
		convtest.Shape2D(2, 16, 32, 1, 12, 12, 3, 3, 1, 1, 1),
		convtest.Shape2D(1, 48, 16, 1, 7, 9, 3, 3, 1, 0, 1),
		convtest.Shape2D(1, 16, 16, 1, 5, 131, 3, 3, 1, 2, 1),
		convtest.Shape2D(3, 32, 64, 2, 7, 7, 3, 3, 1, 1, 1),
		convtest.Shape2D(1, 416, 400, 1, 4, 5, 3, 3, 1, 1, 1),
		convtest.Shape2D(2, 16, 48, 1, 14, 14, 5, 5, 1, 2, 1),
		convtest.Shape2D(2, 32, 32, 2, 6, 11, 5, 5, 1, 0, 1),
		convtest.Shape2D(2, 32, 48, 1, 14, 13, 3, 3, 1, 2, 2),
		convtest.Shape2D(1, 16, 16, 1, 60, 57, 3, 3, 1, 4, 4),
		convtest.Shape2D(2, 32, 64, 2, 9, 9, 3, 3, 1, 6, 6),
		{N: 1, C: 16, Out: 32, Group: 1, In: []int{30, 41}, Kernel: []int{5, 5}, Stride: []int{1, 1}, Pad: []int{4, 2}, Dilation: []int{2, 1}},
	} {
		if convtest.Long(s) {
			continue
		}
		want := convtest.NewCase(s, convtest.Normal)
		convtest.EachWinograd(s, func(st shape.Strategy) {
			t.Run(st.String()+" "+s.String(), func(t *testing.T) { convtest.CompareBlocks(t, kerneltest.HostMachine(t, 2), s, st, want) })
		})
	}
}
