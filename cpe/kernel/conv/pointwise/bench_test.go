package pointwise_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// pointCases are pointwise convolutions of ResNet-50 and GoogLeNet, with the layouts of images and results that are compared with planes.
var pointCases = []struct {
	s       shape.Conv
	in, out bool
}{
	{convtest.Shape2D(8, 256, 64, 1, 56, 56, 1, 1, 1, 0, 1), true, true},
	{convtest.Shape2D(8, 64, 256, 1, 56, 56, 1, 1, 1, 0, 1), true, true},
	{convtest.Shape2D(8, 64, 64, 1, 56, 56, 1, 1, 1, 0, 1), true, true},
	{convtest.Shape2D(8, 512, 128, 1, 28, 28, 1, 1, 1, 0, 1), true, true},
	{convtest.Shape2D(8, 1024, 256, 1, 14, 14, 1, 1, 1, 0, 1), true, true},
	{convtest.Shape2D(8, 256, 1024, 1, 14, 14, 1, 1, 1, 0, 1), true, true},
	{convtest.Shape2D(8, 2048, 512, 1, 7, 7, 1, 1, 1, 0, 1), true, true},
	{convtest.Shape2D(8, 256, 512, 1, 56, 56, 1, 1, 2, 0, 1), true, true},
	{convtest.Shape2D(8, 256, 128, 1, 56, 56, 1, 1, 2, 0, 1), true, true},
	{convtest.Shape2D(8, 512, 1024, 1, 28, 28, 1, 1, 2, 0, 1), true, true},
	{convtest.Shape2D(8, 1024, 2048, 1, 14, 14, 1, 1, 2, 0, 1), true, true},
	{convtest.Shape2D(16, 192, 16, 1, 28, 28, 1, 1, 1, 0, 1), true, true},
	{convtest.Shape2D(16, 512, 24, 1, 14, 14, 1, 1, 1, 0, 1), true, false},
	{convtest.Shape2D(16, 64, 192, 1, 28, 28, 1, 1, 1, 0, 1), false, true},
}

// BenchmarkPointwise runs convolutions plane by plane and in blocks in turn, and reports the best of each, since it compares them.
func BenchmarkPointwise(b *testing.B) {
	for _, groups := range []int{1, 2} {
		for _, c := range pointCases {
			for d := range shape.Direction(3) {
				name := fmt.Sprintf("groups=%d/%v/%dto%d-%d", groups, d, c.s.C, c.s.Out, c.s.In[0])
				b.Run(name, func(b *testing.B) { benchmarkPointwise(b, groups, c.s, c.in, c.out, d) })
			}
		}
	}
}

func benchmarkPointwise(b *testing.B, groups int, s shape.Conv, in, out bool, d shape.Direction) {
	m := kerneltest.BenchMachine(b, groups)
	made := s.N * s.Out * tiling.Size(s.OutSize())
	x, w, y := kerneltest.Values(s.N*s.C*tiling.Size(s.In), 1), kerneltest.Values(s.Out*s.C, 2), kerneltest.Values(made, 3)
	var convs [2]*plan.Conv
	for i := range convs {
		c, err := plan.New(m, s, shape.Implicit)
		if err != nil {
			b.Fatal(err)
		}
		if i == 1 {
			if err := c.SetLayouts(shape.InBlocks(in), shape.InBlocks(out)); err != nil {
				b.Fatal(err)
			}
		}
		convs[i] = c
	}
	best := [2]time.Duration{time.Hour, time.Hour}
	for b.Loop() {
		for i, c := range convs {
			begin := time.Now()
			var err error
			switch d {
			case shape.Forward:
				err = c.Run(shape.Forward, conv.Arrays{X: x, W: w, Y: y})
			case shape.WeightGradient:
				err = c.Run(shape.WeightGradient, conv.Arrays{X: x, DY: y, DW: w, Add: true})
			case shape.InputGradient:
				err = c.Run(shape.InputGradient, conv.Arrays{DY: y, W: w, DX: x})
			}
			if err != nil {
				b.Fatal(err)
			}
			best[i] = min(best[i], time.Since(begin))
		}
	}
	work := 2 * float64(made) * float64(s.C) / 1e9
	b.ReportMetric(work/best[0].Seconds(), "planes-GFLOP/s")
	b.ReportMetric(work/best[1].Seconds(), "blocks-GFLOP/s")
}
