package gemm

import (
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
)

// TestRowSums compares products of few rows with sums in double precision, and those of any number of core groups bit by bit.
func TestRowSums(t *testing.T) {
	for _, c := range []struct {
		shape Shape
		bias  bool
	}{
		{Shape{M: 1, N: 800, K: 500}, false},
		{Shape{M: 2, N: 4099, K: 13}, true},
		{Shape{M: 2, N: 37, K: 1001, Accumulate: true}, false},
		{Shape{M: 1, N: 2049, K: 8, Accumulate: true}, false},
		{Shape{M: 1, N: 1, K: 20000}, true},
	} {
		s := c.shape
		a, b, start := kerneltest.Values(s.M*s.K, 1), kerneltest.Values(s.K*s.N, 2), kerneltest.Values(s.M*s.N, 3)
		var bias []float32
		if c.bias {
			bias = kerneltest.Values(s.N, 4)
		}
		want := make([]float64, s.M*s.N)
		for i := range want {
			row, col := i/s.N, i%s.N
			switch {
			case c.bias:
				want[i] = float64(bias[col])
			case s.Accumulate:
				want[i] = float64(start[i])
			}
			for k := range s.K {
				want[i] += float64(a[row*s.K+k]) * float64(b[k*s.N+col])
			}
		}
		var first []float32
		for _, groups := range []int{1, 2, 5, 11} {
			m, err := New(kerneltest.HostMachine(t, groups), s)
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := m.(*rowSums); !ok {
				t.Fatalf("%v is computed by a %T", s, m)
			}
			got := slices.Clone(start)
			if err := m.Run(a, b, bias, got); err != nil {
				t.Fatal(err)
			}
			kerneltest.Near(t, s.String(), got, want, s.K)
			if first == nil {
				first = got
			} else if !slices.Equal(got, first) {
				t.Errorf("%v differs with %d core groups", s, groups)
			}
		}
	}
}
