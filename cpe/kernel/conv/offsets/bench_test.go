package offsets_test

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

// firstLayers are the first convolutions of AlexNet, GoogLeNet, VGG-16, CIFAR-10 quick and LeNet, of few images.
var firstLayers = []struct {
	name string
	s    shape.Conv
}{
	{"alexnet", convtest.Shape2D(4, 3, 96, 1, 227, 227, 11, 11, 4, 0, 1)},
	{"googlenet", convtest.Shape2D(4, 3, 64, 1, 224, 224, 7, 7, 2, 3, 1)},
	{"vgg16", convtest.Shape2D(4, 3, 64, 1, 224, 224, 3, 3, 1, 1, 1)},
	{"cifar10", convtest.Shape2D(16, 3, 32, 1, 32, 32, 5, 5, 1, 2, 1)},
	{"lenet", convtest.Shape2D(64, 1, 20, 1, 28, 28, 5, 5, 1, 0, 1)},
}

// BenchmarkFirstLayer runs convolutions with results by planes and in blocks in turn, and reports the best of each, since it compares them.
func BenchmarkFirstLayer(b *testing.B) {
	for _, groups := range []int{1, 2} {
		for _, c := range firstLayers {
			for _, d := range []shape.Direction{shape.Forward, shape.WeightGradient} {
				b.Run(fmt.Sprintf("groups=%d/%s/%v", groups, c.name, d), func(b *testing.B) { benchmarkFirstLayer(b, groups, c.s, d) })
			}
		}
	}
}

func benchmarkFirstLayer(b *testing.B, groups int, s shape.Conv, d shape.Direction) {
	m := kerneltest.HostMachine(b, groups)
	made := s.N * s.Out * tiling.Size(s.OutSize())
	x, w, y := kerneltest.Values(s.N*s.C*tiling.Size(s.In), 1), kerneltest.Values(s.Out*s.Depth(), 2), kerneltest.Values(made, 3)
	var convs []*plan.Conv
	for i := range 1 + (shape.BlockLanes-s.Out%shape.BlockLanes)/shape.BlockLanes {
		c, err := plan.New(m, s, shape.Implicit)
		if err != nil {
			b.Fatal(err)
		}
		if err := c.SetLayouts(shape.Planes, shape.InBlocks(i == 1)); err != nil {
			b.Fatal(err)
		}
		convs = append(convs, c)
	}
	best := [2]time.Duration{time.Hour, time.Hour}
	for b.Loop() {
		for i, c := range convs {
			begin := time.Now()
			var err error
			if d == shape.Forward {
				err = c.Run(shape.Forward, conv.Arrays{X: x, W: w, Y: y})
			} else {
				err = c.Run(shape.WeightGradient, conv.Arrays{X: x, DY: y, DW: w, Add: true})
			}
			if err != nil {
				b.Fatal(err)
			}
			best[i] = min(best[i], time.Since(begin))
		}
	}
	for i := range convs {
		work := 2 * float64(made) * float64(s.Depth()) / 1e9
		b.ReportMetric(work/best[i].Seconds(), [...]string{"planes-GFLOP/s", "blocks-GFLOP/s"}[i])
	}
}
