package kernel

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// BenchmarkSweep measures the shapes that scripts/bench.sh compares with other libraries, on all cores. Names say the shapes:
// M,N,K of a product, and of a convolution, computed forward and for both gradients, the images, channels, edge of an image,
// outputs, kernel, stride, padding and groups.
func BenchmarkSweep(b *testing.B) {
	for _, n := range []int{64, 128, 256, 512, 1024, 2048} {
		benchmarkProduct(b, n, n, n)
	}
	for _, s := range [][3]int{{500, 64, 800}, {4096, 32, 9216}, {64, 3136, 147}, {256, 3136, 64}, {512, 196, 4608}} {
		benchmarkProduct(b, s[0], s[1], s[2])
	}
	for _, shape := range []string{
		"64,20,12,50,5,1,0,1", "100,32,16,32,5,1,2,1", "32,96,27,256,5,1,2,2", "8,3,224,64,7,2,3,1", "8,64,56,64,1,1,0,1",
		"8,64,56,64,3,1,1,1", "8,256,56,512,1,2,0,1", "8,512,14,512,3,1,1,1",
	} {
		benchmarkConvolution(b, shape)
	}
}

func benchmarkProduct(b *testing.B, m, n, k int) {
	b.Run(fmt.Sprintf("gemm=%d,%d,%d", m, n, k), func(b *testing.B) {
		g, err := NewGemm(hostMachine(b, runtime.GOMAXPROCS(0)), GemmShape{M: m, N: n, K: k})
		if err != nil {
			b.Fatal(err)
		}
		x, y, z := values(m*k, 1), values(k*n, 2), make([]float32, m*n)
		for b.Loop() {
			if err := g.Run(x, y, nil, z); err != nil {
				b.Fatal(err)
			}
		}
		report(b, 2*float64(m)*float64(n)*float64(k))
	})
}

func benchmarkConvolution(b *testing.B, shape string) {
	b.Run("conv="+shape, func(b *testing.B) {
		var v [8]int
		for i, word := range strings.Split(shape, ",") {
			var err error
			if v[i], err = strconv.Atoi(word); err != nil {
				b.Fatal(err)
			}
		}
		s := conv2(v[0], v[1], v[3], v[7], v[2], v[2], v[4], v[4], v[5], v[6], 1)
		c, err := NewConv(hostMachine(b, runtime.GOMAXPROCS(0)), s, Auto)
		if err != nil {
			b.Fatal(err)
		}
		out := s.N * s.Out * size(s.OutSize())
		x, w, y := values(s.N*s.C*size(s.In), 1), values(s.Out*s.depth(), 2), values(out, 3)
		result, dx, dw := make([]float32, out), make([]float32, len(x)), make([]float32, len(w))
		for b.Loop() {
			for _, run := range []func() error{
				func() error { return c.Forward(x, w, nil, result) }, func() error { return c.WeightGrad(x, y, dw) },
				func() error { return c.InputGrad(y, w, dx) },
			} {
				if err := run(); err != nil {
					b.Fatal(err)
				}
			}
		}
		report(b, 6*float64(out)*float64(s.depth()))
	})
}
