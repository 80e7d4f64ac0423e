package plan_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/winograd"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// The 3x3 and 5x5 convolutions of stride 1 of the benchmark nets, with their batches, but for those that differ little from others.
var netShapes = []struct {
	net   string
	batch int
	list  [][5]int // inputs, outputs, groups, extent of the images, of kernels
}{
	{"lenet", 64, [][5]int{{20, 50, 1, 12, 5}}},
	{"cifar10_quick", 100, [][5]int{{32, 32, 1, 16, 5}, {32, 64, 1, 8, 5}}},
	{"alexnet", 32, [][5]int{{96, 256, 2, 27, 5}, {256, 384, 1, 13, 3}, {384, 384, 2, 13, 3}}},
	{"googlenet", 16, [][5]int{
		{64, 192, 1, 56, 3}, {96, 128, 1, 28, 3}, {128, 192, 1, 28, 3}, {96, 208, 1, 14, 3}, {160, 320, 1, 14, 3}, {160, 320, 1, 7, 3},
		{32, 96, 1, 28, 5}, {32, 128, 1, 14, 5}, {48, 128, 1, 7, 5},
	}},
	{"resnet50", 8, [][5]int{{64, 64, 1, 56, 3}, {128, 128, 1, 28, 3}, {256, 256, 1, 14, 3}, {512, 512, 1, 7, 3}}},
	{"vgg16", 8, [][5]int{
		{3, 64, 1, 224, 3}, {64, 64, 1, 224, 3}, {64, 128, 1, 112, 3}, {128, 128, 1, 112, 3}, {256, 256, 1, 56, 3}, {512, 512, 1, 28, 3},
		{512, 512, 1, 14, 3},
	}},
}

// BenchmarkNets compares strategies on as many core groups as -cpu says. GFLOP/s count the multiplications of the direct form.
func BenchmarkNets(b *testing.B) {
	for _, n := range netShapes {
		for _, l := range n.list {
			s := convtest.Shape2D(n.batch, l[0], l[1], l[2], l[3], l[3], l[4], l[4], 1, l[4]/2, 1)
			for d := range shape.Direction(3) {
				for _, st := range []shape.Strategy{shape.Implicit, shape.Winograd2, shape.Winograd4, shape.Winograd5, shape.Auto} {
					if st.IsWinograd() && !winograd.Has(&s, st) {
						continue
					}
					name := fmt.Sprintf("%s/%dx%d-%dto%d-%d/%v/%v", n.net, l[4], l[4], l[0], l[1], l[3], d, st)
					b.Run(name, func(b *testing.B) { benchmarkConv(b, runtime.GOMAXPROCS(0), s, st, d) })
				}
			}
		}
	}
}

// BenchmarkStrided compares strategies for convolutions with strides, forward and for the weights' gradient.
func BenchmarkStrided(b *testing.B) {
	for _, s := range []shape.Conv{
		convtest.Shape2D(32, 3, 96, 1, 227, 227, 11, 11, 4, 0, 1),
		convtest.Shape2D(16, 96, 256, 1, 55, 55, 5, 5, 2, 1, 1),
		convtest.Shape2D(16, 3, 64, 1, 64, 64, 5, 5, 2, 2, 1),
		convtest.Shape2D(16, 64, 128, 1, 32, 32, 5, 5, 2, 2, 1),
		convtest.Shape2D(16, 1, 32, 1, 84, 84, 8, 8, 4, 0, 1),
		convtest.Shape2D(16, 4, 32, 1, 84, 84, 9, 9, 4, 0, 1),
		convtest.Shape2D(16, 3, 64, 1, 112, 112, 9, 9, 2, 4, 1),
		convtest.Shape2D(8, 64, 64, 64, 56, 56, 5, 5, 2, 2, 1),
		convtest.Shape2D(8, 32, 32, 8, 56, 56, 5, 5, 2, 2, 1),
		convtest.Shape2D(16, 16, 32, 1, 56, 56, 5, 5, 2, 2, 1),
	} {
		spec := kerneltest.BenchMachine(b, 1).Spec()
		for _, d := range []shape.Direction{shape.Forward, shape.WeightGradient} {
			for _, st := range []shape.Strategy{shape.Implicit, shape.Winograd2, shape.Winograd4, shape.Winograd5, shape.Auto} {
				if convtest.Has(&spec, s, st, d) || st == shape.Auto {
					b.Run(fmt.Sprintf("%v/%v/%v", s, d, st), func(b *testing.B) { benchmarkConv(b, runtime.GOMAXPROCS(0), s, st, d) })
				}
			}
		}
	}
}
