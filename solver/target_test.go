package solver

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
)

// targetNet has a layer for each package of vector kernels: convolutions with products, by Winograd's maps, pointwise and depthwise, pooling,
// normalisation, activations and inner products.
const targetNet = `
net_param {
  layer { name: "data" type: "DummyData" top: "x" top: "t" dummy_data_param { shape { dim: 4 dim: 3 dim: 17 dim: 19 } shape { dim: 4 }
    data_filler { type: "gaussian" } data_filler { type: "uniform" max: 4.9 } } }
  layer { name: "conv1" type: "Convolution" bottom: "x" top: "conv1" convolution_param { num_output: 16 kernel_size: 5 stride: 2 pad: 2 weight_filler { type: "msra" } } }
  layer { name: "bn" type: "BatchNorm" bottom: "conv1" top: "bn" }
  layer { name: "relu1" type: "ReLU" bottom: "bn" top: "bn" }
  layer { name: "pool" type: "Pooling" bottom: "bn" top: "pool" pooling_param { kernel_size: 3 stride: 1 pad: 1 } }
  layer { name: "lrn" type: "LRN" bottom: "pool" top: "lrn" lrn_param { local_size: 5 alpha: 0.01 } }
  layer { name: "conv2" type: "Convolution" bottom: "lrn" top: "conv2" convolution_param { num_output: 32 kernel_size: 3 pad: 1 weight_filler { type: "msra" } } }
  layer { name: "prelu" type: "PReLU" bottom: "conv2" top: "conv2" }
  layer { name: "depth" type: "Convolution" bottom: "conv2" top: "depth" convolution_param { num_output: 32 group: 32 kernel_size: 3 pad: 1 weight_filler { type: "msra" } } }
  layer { name: "point" type: "Convolution" bottom: "depth" top: "point" convolution_param { num_output: 21 kernel_size: 1 weight_filler { type: "msra" } } }
  layer { name: "tanh" type: "TanH" bottom: "point" top: "point" }
  layer { name: "drop" type: "Dropout" bottom: "point" top: "point" }
  layer { name: "ip" type: "InnerProduct" bottom: "point" top: "ip" inner_product_param { num_output: 5 weight_filler { type: "xavier" } } }
  layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "t" top: "loss" }
}
base_lr: 0.01 momentum: 0.9 weight_decay: 0.0005 lr_policy: "fixed" random_seed: 5 snapshot_after_train: false
`

// TestPartialTarget: training on a target with one kernel has the same bits on any number of threads, and weights that differ from those of plain Go by
// rounding. On a target with block sizes alone it has the bits of plain Go.
func TestPartialTarget(t *testing.T) {
	at := func(level string, threads int) []float32 {
		defer isa.Use(level)()
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
		return crew{text: targetNet}.trained(t, 4)[0]
	}
	want := at("go", 1)
	for _, level := range isa.Levels() {
		if level == "go" {
			continue
		}
		got := at(level+simdtest.Partial, 1)
		sameBits(t, level+", 3 threads", at(level+simdtest.Partial, 3), got)
		sameBits(t, level+", block sizes alone", at(level+":none", 2), want)
		for i, v := range got {
			if d := math.Abs(float64(v - want[i])); !(d <= 1e-4*(1+math.Abs(float64(want[i])))) {
				t.Errorf("%s: value %d of %d is %g, in plain Go %g", level, i, len(got), v, want[i])
			}
		}
		// Elsewhere the compiler's products in Go may round once too.
		if runtime.GOARCH == "amd64" && slices.Equal(got, want) {
			t.Errorf("%s: the kernel, whose products round once, changed nothing", level)
		}
	}
}
