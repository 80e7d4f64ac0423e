package gemm

import (
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/internal/base/simd/vgemm"
)

// TestDots compares products of a few rows with sums in double precision. They have the same bits with any number of core groups, and training never has them.
func TestDots(t *testing.T) {
	if !vgemm.HasDots() {
		t.Skip("without vectors other algorithms compute these products")
	}
	for _, s := range []Shape{
		{M: 3, N: 250, K: 131, TransB: true},
		{M: 4, N: 301, K: 2048, TransB: true},
		{M: 5, N: 17, K: 2049, TransB: true},
	} {
		var first []float32
		for _, groups := range []int{1, 2, 5} {
			m := kerneltest.HostMachine(t, groups)
			k, err := NewInference(m, s)
			if err != nil {
				t.Fatal(err)
			}
			if k.Algorithm() != Dots {
				t.Fatalf("%v is computed by %s", s, k.Algorithm())
			}
			if training, err := New(m, s); err != nil || training.Algorithm() == Dots {
				t.Errorf("%v is computed by %s in training, error %v", s, training.Algorithm(), err)
			}
			for _, bias := range [][]float32{kerneltest.Values(s.N, 4), nil} {
				a, b, c := kerneltest.Values(s.M*s.K, 1), kerneltest.Values(s.K*s.N, 2), kerneltest.Values(s.M*s.N, 9)
				want := multiply(s, a, b, make([]float32, len(c)))
				for i := range want {
					if bias != nil {
						want[i] += float64(bias[i%s.N])
					}
				}
				if err := k.Run(a, b, bias, c); err != nil {
					t.Fatal(err)
				}
				kerneltest.Near(t, s.String(), c, want, s.K)
				if bias != nil {
					continue
				}
				if first == nil {
					first = c
				}
				if !slices.Equal(c, first) {
					t.Errorf("%v with %d core groups has other bits than with one", s, groups)
				}
			}
		}
	}
}
