package gemm

import (
	"fmt"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
)

func BenchmarkGemm(b *testing.B) {
	for _, groups := range []int{1, 2} {
		for _, n := range []int{64, 256, 512, 1000, 1024} {
			b.Run(fmt.Sprintf("groups=%d/n=%d", groups, n), func(b *testing.B) {
				g, err := NewBlocked(kerneltest.BenchMachine(b, groups), Shape{M: n, N: n, K: n})
				if err != nil {
					b.Fatal(err)
				}
				x, y, z := kerneltest.Values(n*n, 1), kerneltest.Values(n*n, 2), make([]float32, n*n)
				b.ReportAllocs()
				for b.Loop() {
					if err := g.Run(x, y, nil, z); err != nil {
						b.Fatal(err)
					}
				}
				kerneltest.Report(b, 2*float64(n)*float64(n)*float64(n))
			})
		}
	}
}
