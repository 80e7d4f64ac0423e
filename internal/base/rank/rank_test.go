package rank_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/rank"
)

// TestFirst: random lists with many and few equal elements, in order, reversed and mixed, against sorting.
func TestFirst(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for turn := range 20_000 {
		list := make([]int, r.IntN(200))
		for i := range list {
			list[i] = r.IntN(1 + turn%1000)
		}
		switch turn % 5 {
		case 0:
			slices.Sort(list)
		case 1:
			slices.SortFunc(list, func(a, b int) int { return b - a })
		}
		n := r.IntN(220)
		all := slices.Clone(list)
		slices.Sort(all)
		got := rank.First(list, n, cmp.Compare[int])
		if !slices.Equal(got, all[:min(n, len(all))]) {
			t.Fatalf("the first %d of %v are %v", n, all, got)
		}
		if slices.Sort(list); !slices.Equal(list, all) {
			t.Fatalf("the list has become %v, it was %v", list, all)
		}
	}
}

// TestFirstCompares: as many comparisons as a few passes over the list, and not those of sorting, whatever its order.
func TestFirstCompares(t *testing.T) {
	const size, n = 1 << 16, 100
	r := rand.New(rand.NewPCG(5, 6))
	lists := map[string][]int{"mixed": r.Perm(size), "ordered": make([]int, size), "equal": make([]int, size), "organ pipe": make([]int, size)}
	for i := range size {
		lists["ordered"][i], lists["organ pipe"][i] = i, min(i, size-i)
	}
	for name, list := range lists {
		count := 0
		rank.First(list, n, func(a, b int) int { count++; return a - b })
		if count > 8*size {
			t.Errorf("%s: %d comparisons for %d elements", name, count, size)
		}
	}
}
