package gemm

import (
	"fmt"
	"testing"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
)

// TestProductsOfEmptyShares: core groups whose share of a product is empty do nothing, and the others' results have the bits of one core
// group. There are products of every kernel, whose last panels are not full: scheduled dynamically with A packed by all (the gradients and results
// of inner products with few outputs), read where they lie, sums of rows, skinny and transposed ones.
func TestProductsOfEmptyShares(t *testing.T) {
	for _, s := range []Shape{
		{M: 10, N: 9216, K: 256, TransA: true, Accumulate: true}, {M: 20, N: 4096, K: 256, TransA: true, Accumulate: true},
		{M: 10, N: 1500, K: 1200, TransA: true}, {M: 259, N: 10, K: 1021, TransB: true}, {M: 301, N: 100, K: 70}, {M: 70, N: 100, K: 300},
		{M: 1, N: 1001, K: 700}, {M: 2, N: 1001, K: 700, TransB: true}, {M: 4, N: 3001, K: 2003}, {M: 8, N: 5001, K: 301, TransB: true},
		{M: 2001, N: 5, K: 257, TransB: true}, {M: 6, N: 1003, K: 1003},
	} {
		a, b, bias := kerneltest.Values(s.M*s.K, 1), kerneltest.Values(s.K*s.N, 2), kerneltest.Values(s.N, 3)
		if s.Accumulate {
			bias = nil
		}
		var want []float32
		for _, parts := range append([][]float64{{1}}, kerneltest.EmptyParts...) {
			t.Run(fmt.Sprintf("%v, parts %v", s, parts), func(t *testing.T) {
				p, err := New(kerneltest.PartsMachine(t, parts...), s)
				if err != nil {
					t.Fatal(err)
				}
				c := kerneltest.Values(s.M*s.N, 4)
				if err := p.Run(a, b, bias, c); err != nil {
					t.Fatal(err)
				}
				if want == nil {
					want = c
				}
				kerneltest.SameBits(t, "C", c, want)
			})
		}
	}
}

// TestSkinnyProductOfShares: the last columns of a product of one row, fewer than a vector, have the same bits whether a core group has them
// alone or with others.
func TestSkinnyProductOfShares(t *testing.T) {
	for _, s := range []Shape{{M: 1, N: 36, K: 3421}, {M: 2, N: 2053, K: 11}} {
		a, b := kerneltest.Values(s.M*s.K, 1), kerneltest.Values(s.K*s.N, 2)
		var want []float32
		for _, parts := range [][]float64{{1}, {1, 1}, {128, 1}, {1, 0, 5}} {
			g, err := NewBlocked(kerneltest.PartsMachine(t, parts...), s)
			if err != nil {
				t.Fatal(err)
			}
			c := kerneltest.Values(s.M*s.N, 4)
			if err := g.Run(a, b, nil, c); err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = c
			}
			kerneltest.SameBits(t, fmt.Sprintf("%v, parts %v", s, parts), c, want)
		}
	}
}

// TestProductsOfNothing: sums of no products are 0, the bias, or what C held, in as few columns as one tile has and in more.
func TestProductsOfNothing(t *testing.T) {
	m := kerneltest.PartsMachine(t, 1, 2)
	for _, n := range []int{1, 37, 4097} {
		for _, s := range []Shape{{M: 1, N: n}, {M: 2, N: n, TransB: true}, {M: 7, N: n}, {M: 7, N: n, TransA: true}, {M: 1, N: n, Accumulate: true}} {
			p, err := New(m, s)
			if err != nil {
				t.Fatal(err)
			}
			bias, c := kerneltest.Values(n, 1), kerneltest.Values(s.M*n, 2)
			want := make([]float32, len(c))
			if s.Accumulate {
				copy(want, c)
				bias = nil
			} else {
				for i := range want {
					want[i] = bias[i%n]
				}
			}
			if err := p.Run(nil, nil, bias, c); err != nil {
				t.Fatal(err)
			}
			kerneltest.SameBits(t, s.String(), c, want)
		}
	}
}

// TestProductsOfNoColumns: a result without columns, or without rows, is nothing to do for any kernel of products.
func TestProductsOfNoColumns(t *testing.T) {
	for _, m := range []*cpe.Machine{kerneltest.PartsMachine(t, 1, 2), kerneltest.HostMachine(t, 8)} {
		for _, s := range []Shape{{M: 33, K: 513, TransB: true}, {M: 33, K: 513}, {N: 33, K: 513, TransB: true}, {N: 33, K: 513, TransA: true}, {K: 17}} {
			p, err := New(m, s)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Run(make([]float32, s.M*s.K), make([]float32, s.K*s.N), make([]float32, s.N), nil); err != nil {
				t.Errorf("%v: %v", s, err)
			}
		}
	}
}
