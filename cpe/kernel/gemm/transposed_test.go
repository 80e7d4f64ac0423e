package gemm

import (
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/internal/base/simd/vgemm"
)

// TestTransposed compares products computed as their transposes with sums in double precision, and with Packed bit by bit, with any number of
// core groups.
func TestTransposed(t *testing.T) {
	_, nr := vgemm.Tile()
	testLikeGemm(t, func(m Kernel) bool { _, ok := m.(*transposed); return ok }, []Shape{
		{M: 3, N: 250, K: 131, TransB: true},
		{M: nr, N: 500, K: 800, TransB: true},
		{M: nr + 1, N: 301, K: 999, TransB: true},
		{M: 2 * nr, N: 260, K: 1201, TransB: true},
		{M: 5, N: 1003, K: 769, TransB: true},
		{M: nr, N: 259, K: 2048, TransB: true},
	})
}

// testLikeGemm: products of these shapes, which a Multiplier of some kind computes where there are vectors, are right, and have Gemm's bits.
func testLikeGemm(t *testing.T, kind func(Kernel) bool, shapes []Shape) {
	if !vgemm.HasStrided() {
		t.Skip("without vectors Gemm computes these products")
	}
	for _, s := range shapes {
		for _, bias := range [][]float32{nil, kerneltest.Values(s.N, 4)} {
			a, b := kerneltest.Values(s.M*s.K, 1), kerneltest.Values(s.K*s.N, 2)
			want := multiply(s, a, b, make([]float32, s.M*s.N))
			for i := range want {
				if bias != nil {
					want[i] += float64(bias[i%s.N])
				}
			}
			plain, err := NewBlocked(kerneltest.HostMachine(t, 1), s)
			if err != nil {
				t.Fatal(err)
			}
			same := make([]float32, len(want))
			if err := plain.Run(a, b, bias, same); err != nil {
				t.Fatal(err)
			}
			for _, groups := range []int{1, 2, 5} {
				m, err := New(kerneltest.HostMachine(t, groups), s)
				if err != nil {
					t.Fatal(err)
				}
				if !kind(m) {
					t.Fatalf("%v is computed by a %T", s, m)
				}
				got := kerneltest.Values(len(want), 9)
				for range 2 {
					if err := m.Run(a, b, bias, got); err != nil {
						t.Fatal(err)
					}
				}
				kerneltest.Near(t, s.String(), got, want, s.K)
				if !slices.Equal(got, same) {
					t.Errorf("%v with %d core groups differs from gemm", s, groups)
				}
			}
		}
	}
}

// TestDots compares products of a few rows with sums in double precision. They have the same bits with any number of core groups, and training never has them.
func TestDots(t *testing.T) {
	if !vgemm.HasDots() {
		t.Skip("without vectors other algorithms compute these products")
	}
	for _, s := range []Shape{
		{M: 3, N: 250, K: 131, TransB: true},
		{M: 4, N: 301, K: 2048, TransB: true},
		{M: 5, N: 17, K: 2049, TransB: true},
		{M: dotRows, N: 259, K: 5000, TransB: true},
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
