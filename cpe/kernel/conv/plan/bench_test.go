package plan_test

import (
	"fmt"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

func BenchmarkConv(b *testing.B) {
	for _, layer := range []struct {
		name string
		s    shape.Conv
	}{
		{"lenet-conv2", convtest.Shape2D(64, 20, 50, 1, 12, 12, 5, 5, 1, 0, 1)},
		{"cifar-conv2", convtest.Shape2D(20, 32, 32, 1, 16, 16, 5, 5, 1, 2, 1)},
		{"alexnet-conv2", convtest.Shape2D(8, 96, 256, 2, 27, 27, 5, 5, 1, 2, 1)},
		{"vgg-conv3_2", convtest.Shape2D(2, 256, 256, 1, 56, 56, 3, 3, 1, 1, 1)},
		{"resnet-1x1", convtest.Shape2D(8, 256, 64, 1, 56, 56, 1, 1, 1, 0, 1)},
	} {
		for _, st := range []shape.Strategy{shape.Explicit, shape.Implicit, shape.Auto} {
			for d := range shape.Direction(3) {
				b.Run(fmt.Sprintf("%s/%v/%v", layer.name, st, d), func(b *testing.B) { benchmarkConv(b, 1, layer.s, st, d) })
			}
		}
	}
}

func benchmarkConv(b *testing.B, groups int, s shape.Conv, st shape.Strategy, d shape.Direction) {
	c, err := plan.New(kerneltest.BenchMachine(b, groups), s, st)
	if err != nil {
		b.Fatal(err)
	}
	out := s.N * s.Out * tiling.Size(s.OutSize())
	x, w, y := kerneltest.Values(s.N*s.C*tiling.Size(s.In), 1), kerneltest.Values(s.Out*s.Depth(), 2), kerneltest.Values(out, 3)
	b.ReportAllocs()
	for b.Loop() {
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
	}
	kerneltest.Report(b, 2*float64(out)*float64(s.Depth()))
}
