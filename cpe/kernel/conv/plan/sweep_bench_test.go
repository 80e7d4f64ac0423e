package plan_test

import (
	"errors"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/convtest"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/gemm"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// BenchmarkSweep measures the shapes that scripts/bench.sh compares with other libraries, on all cores. Names say the shapes: M,N,K of a
// product and which operands are stored transposed, + if it is added to C, and of a convolution, computed forward and for both gradients, the
// images, channels, edge of an image, outputs, kernel, stride, padding and groups.
func BenchmarkSweep(b *testing.B) {
	for _, shape := range []string{
		"64,64,64", "128,128,128", "256,256,256", "512,512,512", "1024,1024,1024", "2048,2048,2048", "4096,4096,4096",
		"500,64,800", "64,3136,147", "256,3136,64", "512,196,4608",
		"64,500,800,b", "500,800,64,a+", "64,800,500", // LeNet's first inner product: forward, both gradients
		"64,10,500,b", "10,500,64,a+", "64,500,10",
		"100,64,1024,b", "64,1024,100,a+", "100,1024,64", // CIFAR-10 quick's
		"32,4096,9216,b", "4096,9216,32,a+", "32,9216,4096", // AlexNet's
		"16,1000,1024,b", "8,1000,2048,b", "1,4096,9216,b",
	} {
		benchmarkProduct(b, shape)
	}
	for _, shape := range []string{
		"64,20,12,50,5,1,0,1", "100,32,16,32,5,1,2,1", "32,96,27,256,5,1,2,2", "8,3,224,64,7,2,3,1", "8,64,56,64,1,1,0,1",
		"8,64,56,64,3,1,1,1", "8,256,56,512,1,2,0,1", "8,512,14,512,3,1,1,1", "8,128,28,128,3,1,1,128",
	} {
		benchmarkConvolution(b, shape)
	}
}

func benchmarkProduct(b *testing.B, shape string) {
	b.Run("gemm="+shape, func(b *testing.B) {
		words := strings.Split(shape+",", ",")
		v := numbers(b, words[:3])
		s := gemm.Shape{M: v[0], N: v[1], K: v[2], TransA: strings.Contains(words[3], "a"), TransB: strings.Contains(words[3], "b"), Accumulate: strings.Contains(words[3], "+")}
		g, err := gemm.New(kerneltest.BenchMachine(b, runtime.GOMAXPROCS(0)), s)
		if err != nil {
			b.Fatal(err)
		}
		x, y, z := kerneltest.Values(s.M*s.K, 1), kerneltest.Values(s.K*s.N, 2), make([]float32, s.M*s.N)
		measure(b, func() error { return g.Run(x, y, nil, z) })
		kerneltest.Report(b, 2*float64(s.M)*float64(s.N)*float64(s.K))
	})
}

// measure measures runs behind a warm-up, as those of the other libraries are measured: the first meets memory without pages.
func measure(b *testing.B, run func() error) {
	if err := run(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := run(); err != nil {
			b.Fatal(err)
		}
	}
}

// numbers reads the numbers of a shape.
func numbers(b *testing.B, words []string) []int {
	v := make([]int, len(words))
	for i, word := range words {
		var err error
		if v[i], err = strconv.Atoi(word); err != nil {
			b.Fatal(err)
		}
	}
	return v
}

func benchmarkConvolution(b *testing.B, problem string) {
	b.Run("conv="+problem, func(b *testing.B) {
		v := numbers(b, strings.Split(problem, ","))
		s := convtest.Shape2D(v[0], v[1], v[3], v[7], v[2], v[2], v[4], v[4], v[5], v[6], 1)
		c, err := plan.New(kerneltest.BenchMachine(b, runtime.GOMAXPROCS(0)), s, shape.Auto)
		if err != nil {
			b.Fatal(err)
		}
		out := s.N * s.Out * tiling.Size(s.OutSize())
		x, w, y := kerneltest.Values(s.N*s.C*tiling.Size(s.In), 1), kerneltest.Values(s.Out*s.Depth(), 2), kerneltest.Values(out, 3)
		result, dx, dw := make([]float32, out), make([]float32, len(x)), make([]float32, len(w))
		measure(b, func() error {
			return errors.Join(c.Run(shape.Forward, conv.Arrays{X: x, W: w, Y: result}), c.Run(shape.WeightGradient, conv.Arrays{X: x, DY: y, DW: dw, Add: true}), c.Run(shape.InputGradient, conv.Arrays{DY: y, W: w, DX: dx}))
		})
		kerneltest.Report(b, 6*float64(out)*float64(s.Depth()))
	})
}
