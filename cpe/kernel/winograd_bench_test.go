package kernel

import (
	"fmt"
	"runtime"
	"testing"
)

// The 3x3 convolutions of stride 1 of the benchmark nets, with their batches, but for those that differ little from others.
var netShapes = []struct {
	net   string
	batch int
	list  [][3]int // inputs, outputs, extent of the images
}{
	{"vgg16", 8, [][3]int{{3, 64, 224}, {64, 64, 224}, {64, 128, 112}, {128, 128, 112}, {128, 256, 56}, {256, 256, 56}, {256, 512, 28}, {512, 512, 28}, {512, 512, 14}}},
	{"resnet50", 8, [][3]int{{64, 64, 56}, {128, 128, 28}, {256, 256, 14}, {512, 512, 7}}},
	{"googlenet", 16, [][3]int{{64, 192, 56}, {96, 128, 28}, {128, 192, 28}, {96, 208, 14}, {128, 256, 14}, {160, 320, 14}, {160, 320, 7}, {192, 384, 7}}},
}

// BenchmarkNets compares strategies on as many core groups as -cpu says. GFLOP/s count the multiplications of the direct form.
func BenchmarkNets(b *testing.B) {
	for _, n := range netShapes {
		for _, l := range n.list {
			s := conv2(n.batch, l[0], l[1], 1, l[2], l[2], 3, 3, 1, 1, 1)
			for d := range Direction(3) {
				for _, st := range []Strategy{Implicit, Winograd2, Winograd4, Auto} {
					name := fmt.Sprintf("%s/%dto%d-%d/%v/%v", n.net, l[0], l[1], l[2], d, st)
					b.Run(name, func(b *testing.B) { benchmarkConv(b, runtime.GOMAXPROCS(0), s, st, d) })
				}
			}
		}
	}
}
