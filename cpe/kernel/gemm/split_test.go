package gemm

import (
	"cmp"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
)

// TestPieces: products that many core groups share by rows or columns of pieces have the bits of one core group. Two core groups share no pieces.
func TestPieces(t *testing.T) {
	byRows := map[bool]int{}
	for _, s := range []Shape{
		{M: 161, N: 500, K: 80, TransB: true}, {M: 500, N: 203, K: 91, TransA: true, Accumulate: true}, {M: 250, N: 801, K: 50},
		{M: 97, N: 160, K: 300}, {M: 700, N: 130, K: 40, TransA: true, TransB: true}, {M: 301, N: 10, K: 1021, TransB: true},
	} {
		a, b, bias := kerneltest.Values(s.M*s.K, 1), kerneltest.Values(s.K*s.N, 2), kerneltest.Values(s.N, 3)
		if s.Accumulate {
			bias = nil
		}
		var want []float32
		for _, groups := range []int{1, 2, 8, 13, 64} {
			k, err := New(kerneltest.HostMachine(t, groups), s)
			if err != nil {
				t.Fatal(err)
			}
			c := kerneltest.Values(s.M*s.N, 4)
			if err := k.Run(a, b, bias, c); err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = c
			}
			kerneltest.SameBits(t, s.String(), c, want)
			if g, ok := k.(*Blocked); ok && g.split.piece > 0 {
				byRows[g.split.byRows]++
				if groups == 2 {
					t.Errorf("%v: two core groups share pieces of %d", s, g.split.piece)
				}
			}
		}
	}
	if byRows[true] == 0 || byRows[false] == 0 {
		t.Errorf("pieces share rows in %d products, columns in %d", byRows[true], byRows[false])
	}
}

// TestEvenSplit: of the products of LeNet's first inner product with 512 images, the busiest of 64 core groups has at most a quarter more than the mean.
func TestEvenSplit(t *testing.T) {
	m := kerneltest.HostMachine(t, 64)
	spec := m.Spec()
	for _, s := range []Shape{{M: 512, N: 500, K: 800, TransB: true}, {M: 500, N: 800, K: 512, TransA: true}, {M: 512, N: 800, K: 500}} {
		split := NewSplit(&spec, planHostGemm(&spec, s), s)
		shared, other := s.N, s.M
		if split.byRows {
			shared, other = other, shared
		}
		if most := split.busiest(&spec, shared, other) * min(cmp.Or(split.piece, other), other); float64(most) > 1.25*float64(s.M*s.N)/64 {
			t.Errorf("%v: the busiest of 64 core groups computes %d of %d values", s, most, s.M*s.N)
		}
	}
}
