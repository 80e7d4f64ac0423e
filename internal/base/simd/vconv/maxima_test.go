package vconv

import (
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
)

// TestMaximaSums: every number of runs that there are kernels for, and more, of outputs of any number, some of which took nothing.
func TestMaximaSums(t *testing.T) {
	simdtest.EachTarget(t, func(t *testing.T) {
		for runs := 1; runs <= 13; runs++ {
			for n := range 10 {
				testMaximaSums(t, runs, n)
			}
		}
	})
}

func testMaximaSums(t *testing.T, runs, n int) {
	const inputs, zeros = 70, 60 // values, of which those that runs of no place meet are zeros
	_, x := simdtest.Banded(inputs+zeros, 1)
	clear(x[inputs:])
	_, dy := simdtest.Banded(n, 2)
	lines, index, places := make([]int, runs), make([]int32, n), []int32{inputs, 3, 0, 17, 4, 5}
	for r := range lines {
		lines[r] = r * 7 % 41
	}
	for i := range index {
		index[i] = int32(i*4%6) - 1
	}
	guarded, sums := simdtest.Banded((runs+1)*MaximaLanes, 3)
	old := slices.Clone(sums)
	MaximaSums(sums, sums[runs*MaximaLanes:], x, lines, dy, index, places)
	simdtest.CheckGuard(t, guarded, len(sums), 3)
	for at, got := range sums {
		want, scale := float64(old[at]), 1.0
		for i, v := range dy {
			term := float64(v)
			if r := at / MaximaLanes; r < runs {
				term *= float64(x[lines[r]+int(places[1+index[i]])+at%MaximaLanes])
			}
			want, scale = want+term, scale+max(term, -term)
		}
		if !simdtest.Near(got, want, scale, 1e-6) {
			t.Fatalf("%d runs of %d outputs: %g at %d, want %g", runs, n, got, at, want)
		}
	}
}
