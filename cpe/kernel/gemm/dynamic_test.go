package gemm

import (
	"math"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/cpe/kernel/kerneltest"
	"github.com/swcaffe/swcaffe/internal/base/simd/vgemm"
	"github.com/swcaffe/swcaffe/internal/testkit/alloctest"
	"github.com/swcaffe/swcaffe/internal/testkit/racing"
)

// TestDynamic: products with dynamic scheduling are, bit by bit, those of one core group, whoever computes which panel, and
// allocate nothing. Shapes have one and several blocks of K and of M, and last panels and tiles that are not full.
func TestDynamic(t *testing.T) {
	if !vgemm.HasStrided() {
		t.Skip("takes long without vectors")
	}
	for _, s := range racing.Few([]Shape{
		{M: 37, N: 1301, K: 350},
		{M: 41, N: 1299, K: 790, Accumulate: true},
		{M: 131, N: 1283, K: 129, TransA: true},
		{M: 50, N: 1290, K: 513, TransB: true},
		{M: 2050, N: 530, K: 767, TransA: true, TransB: true},
		{M: 301, N: 303, K: 401},
	}) {
		for _, bias := range [][]float32{nil, kerneltest.Values(s.N, 4)} {
			if bias != nil && s.Accumulate {
				continue
			}
			a, b, want := kerneltest.Values(s.M*s.K, 1), kerneltest.Values(s.K*s.N, 2), kerneltest.Values(s.M*s.N, 3)
			start := slices.Clone(want)
			one, err := NewBlocked(kerneltest.HostMachine(t, 1), s)
			if err != nil {
				t.Fatal(err)
			}
			if err := one.Run(a, b, bias, want); err != nil {
				t.Fatal(err)
			}
			for _, groups := range []int{2, 5} {
				testPieces(t, s, groups, a, b, bias, start, want)
			}
		}
	}
}

// testPieces compares a product on core groups with the one that is wanted.
func testPieces(t *testing.T, s Shape, groups int, a, b, bias, start, want []float32) {
	_, nr := vgemm.Tile()
	g, err := NewBlocked(kerneltest.HostMachine(t, groups), s)
	if err != nil {
		t.Fatal(err)
	}
	if shared := s.N > dynamicPanels*groups*nr; (g.dynamic != nil) != shared {
		t.Errorf("%v, %d core groups: scheduled dynamically: %v, want %v", s, groups, g.dynamic != nil, shared)
	}
	c := slices.Clone(start)
	allocs := alloctest.PerRun(2, func() {
		copy(c, start)
		if !s.Accumulate {
			c[len(c)-1] = float32(math.NaN())
		}
		if err := g.Run(a, b, bias, c); err != nil {
			t.Fatal(err)
		}
	})
	if allocs != 0 {
		t.Errorf("%v, %d core groups: %d allocations a run", s, groups, allocs)
	}
	if !slices.Equal(c, want) {
		t.Errorf("%v, %d core groups, bias: %v: other bits than those of one core group", s, groups, bias != nil)
	}
}
