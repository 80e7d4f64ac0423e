package all_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/layertest"
)

// passes lists memory-bound layers of the benchmark nets, with the nets' batches.
var passes = []struct {
	name, kind, param string
	shape             []int
}{
	{"alexnet-norm1", "LRN", "lrn_param { local_size: 5 alpha: 0.0001 }", []int{32, 96, 55, 55}},
	{"alexnet-norm2", "LRN", "lrn_param { local_size: 5 alpha: 0.0001 }", []int{32, 256, 27, 27}},
	{"googlenet-n1", "LRN", "lrn_param { local_size: 5 alpha: 0.0001 }", []int{16, 64, 56, 56}},
	{"googlenet-n2", "LRN", "lrn_param { local_size: 5 alpha: 0.0001 }", []int{16, 192, 56, 56}},
	{"alexnet-pool1", "Pooling", "pooling_param { kernel_size: 3 stride: 2 }", []int{32, 96, 55, 55}},
	{"alexnet-pool5", "Pooling", "pooling_param { kernel_size: 3 stride: 2 }", []int{32, 256, 13, 13}},
	{"cifar10-pool1", "Pooling", "pooling_param { kernel_size: 3 stride: 2 }", []int{100, 32, 32, 32}},
	{"cifar10-pool2", "Pooling", "pooling_param { pool: AVE kernel_size: 3 stride: 2 }", []int{100, 32, 16, 16}},
	{"cifar10-pool3", "Pooling", "pooling_param { pool: AVE kernel_size: 3 stride: 2 }", []int{100, 64, 8, 8}},
	{"googlenet-p1", "Pooling", "pooling_param { kernel_size: 3 stride: 2 }", []int{16, 64, 112, 112}},
	{"googlenet-i3b_p", "Pooling", "pooling_param { kernel_size: 3 stride: 1 pad: 1 }", []int{16, 256, 28, 28}},
	{"googlenet-i4e_p", "Pooling", "pooling_param { kernel_size: 3 stride: 1 pad: 1 }", []int{16, 528, 14, 14}},
	{"googlenet-i5b_p", "Pooling", "pooling_param { kernel_size: 3 stride: 1 pad: 1 }", []int{16, 832, 7, 7}},
	{"googlenet-last", "Pooling", "pooling_param { pool: AVE kernel_size: 7 }", []int{16, 1024, 7, 7}},
	{"lenet-pool1", "Pooling", "pooling_param { kernel_size: 2 stride: 2 }", []int{64, 20, 24, 24}},
	{"lenet-pool2", "Pooling", "pooling_param { kernel_size: 2 stride: 2 }", []int{64, 50, 8, 8}},
	{"resnet50-pool1", "Pooling", "pooling_param { kernel_size: 3 stride: 2 pad: 1 }", []int{16, 64, 112, 112}},
	{"resnet50-pool5", "Pooling", "pooling_param { pool: AVE global_pooling: true }", []int{16, 2048, 7, 7}},
	{"vgg16-pool1", "Pooling", "pooling_param { kernel_size: 2 stride: 2 }", []int{8, 64, 224, 224}},
	{"vgg16-pool4", "Pooling", "pooling_param { kernel_size: 2 stride: 2 }", []int{8, 512, 28, 28}},
}

// BenchmarkPasses reports the best time of a pass, which varies less than the mean if other programs run.
func BenchmarkPasses(b *testing.B) {
	for _, p := range passes {
		for _, way := range []string{"forward", "backward"} {
			b.Run(fmt.Sprintf("%s/%s", p.name, way), func(b *testing.B) {
				c := layertest.Case{Type: p.kind, Param: p.param, Bottoms: []layertest.Bottom{layertest.In(p.shape...)}}
				f := layertest.Build(b, layertest.NewBench(b), layers.CPE, c)
				f.Forward(b)
				best := time.Hour
				for b.Loop() {
					best = min(best, timePass(b, f, way))
				}
				b.ReportMetric(float64(best.Microseconds())/1000, "best-ms")
			})
		}
	}
}
