package vconv

import (
	"math"
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// TestPairSums: on every level, sums have the bits of the stated order, for rows and columns of some tiles and odd and even numbers of pixels in some runs.
func TestPairSums(t *testing.T) {
	simdtest.EachTarget(t, func(t *testing.T) {
		rows, blocks := PixelSumSize()
		for m := 1; m <= 3*rows; m++ {
			for n := 1; n <= blocks*isa.BlockLanes; n += 5 {
				testPairSums(t, m%3*rows, m, n, 1+(m+n)%3, 1+(m*n)%10)
			}
		}
	})
}

func testPairSums(t *testing.T, first, m, n, runs, pixels int) {
	const lanes = isa.BlockLanes
	columns, ldc, high, rows := (n+lanes-1)/lanes, n+3, (first+m+lanes-1)/lanes, PairRows(pixels)
	jump := rows*lanes + 16
	r := PixelRuns{Runs: runs, N: rows, NextA: high*jump + 32, NextB: columns*jump + 5, JumpA: jump, JumpB: jump}
	_, x := simdtest.Banded(runs*high*pixels*lanes, 1)
	_, y := simdtest.Banded(runs*columns*pixels*lanes, 2)
	a, b := make([]float32, runs*r.NextA), make([]float32, runs*r.NextB)
	for run := range runs {
		for block := range high {
			RoundRows(a[run*r.NextA+block*jump:], x[(run*high+block)*pixels*lanes:], pixels)
		}
		for block := range columns {
			RoundRows(b[run*r.NextB+block*jump:], y[(run*columns+block)*pixels*lanes:], pixels)
		}
	}
	all, c := simdtest.Banded(m*ldc, 3)
	for _, accumulate := range []bool{false, true} {
		old := append([]float32(nil), c...)
		PairSums(&r, a, b, c, ldc, first, m, n, accumulate)
		simdtest.CheckGuard(t, all, m*ldc, 3)
		for at, got := range c {
			i, j, want := first+at/ldc, at%ldc, old[at]
			if j < n {
				want = 0
				term := func(run, p int) float32 {
					if p >= pixels {
						return 0
					}
					return vec.BFloat16(x[((run*high+i/lanes)*pixels+p)*lanes+i%lanes]) * vec.BFloat16(y[((run*columns+j/lanes)*pixels+p)*lanes+j%lanes])
				}
				for run := range runs {
					for p := 0; p < pixels; p += 2 {
						want += term(run, p+1)
						want += term(run, p)
					}
				}
				if accumulate {
					want += old[at]
				}
			}
			if got != want {
				t.Fatalf("rows from %d on, %dx%d, %d runs of %d, accumulate %v: %g at row %d, column %d, want %g", first, m, n, runs, pixels, accumulate, got, i, j, want)
			}
		}
	}
}

// TestUnroundPanel: the values of a panel are the rounded ones.
func TestUnroundPanel(t *testing.T) {
	simdtest.EachTarget(t, func(t *testing.T) {
		for _, k := range []int{2, 32, 34} {
			_, w := simdtest.Banded(k*pixelPanel, 1)
			panel, got := make([]float32, len(w)/2), make([]float32, len(w))
			roundPanel(panel, w, k)
			unroundPanel(got, panel, k)
			for i, v := range w {
				if got[i] != vec.BFloat16(v) {
					t.Fatalf("%d rows: value %d is %g, want %g", k, i, got[i], vec.BFloat16(v))
				}
			}
		}
	})
}

// TestOffsetPairs: OffsetKernel with pairs has the bits of two products one after the other, the second value's before the first's.
func TestOffsetPairs(t *testing.T) {
	if !HasPairs() {
		t.Skip("this processor does not multiply pairs")
	}
	const lanes = isa.BlockLanes
	for pixels := 1; pixels <= OffsetPixels(); pixels++ {
		for n := 1; n <= 2; n++ {
			offs := []int{9, 0, 4, 17, 2}[:1+(pixels+n)%5]
			r := OffsetTiles{Tiles: 2, N: pixels, Step: 1 + pixels%2, JumpC: 2*pixels*lanes + 3, Pairs: true}
			all, wide := r.Tiles*r.N, OffsetTiles{Tiles: 2, N: pixels, Step: 2 * (1 + pixels%2), JumpC: 2*pixels*lanes + 3}
			_, x := simdtest.Banded(2*(32+all*r.Step), 1)
			_, w := simdtest.Banded(2*len(offs)*pixelPanel, 2)
			_, start := simdtest.Banded(pixelPanel, 3)
			vec.Round(x, x)
			vec.Round(w, w)
			pairsOf, packed := make([]float32, len(x)/2), make([]float32, len(w)/2)
			RoundPairs(pairsOf, x)
			var order []int
			for k, o := range offs {
				order = append(order, 2*o+1, 2*o)
				for j := range pixelPanel {
					packed[k*pixelPanel+j] = vec.Pair(w[(2*k+1)*pixelPanel+j], w[2*k*pixelPanel+j])
				}
			}
			got := make([]float32, 2*r.JumpC)
			want := make([]float32, len(got))
			OffsetKernel(&r, offs, pairsOf, packed, start, got, n, false, true)
			OffsetKernel(&wide, order, x, w, start, want, n, false, true)
			if !slices.Equal(got, want) {
				t.Fatalf("%+v, %d blocks: %v, want %v", r, n, got, want)
			}
		}
	}
}

// TestAddPairs: the first or the second 16 channels of pairs are added, for any number of pixels, and nothing behind them is written.
func TestAddPairs(t *testing.T) {
	const lanes = isa.BlockLanes
	simdtest.EachTarget(t, func(t *testing.T) {
		if !HasPairs() {
			t.Skip("the level has no pairs")
		}
		for pixels := 1; pixels <= 19; pixels++ {
			_, x := simdtest.Banded(2*pixels*lanes, 1)
			x[0], x[1], x[2] = float32(math.NaN()), float32(math.Inf(-1)), 1e-39
			pairs := make([]float32, pixels*lanes)
			roundPixelPairs(pairs, x, pixels*lanes, 2, pixels)
			for half := range 2 {
				all, sum := simdtest.Banded(pixels*lanes, 3)
				old := slices.Clone(sum)
				AddPairs(sum, pairs[half*lanes/2:])
				simdtest.CheckGuard(t, all, len(sum), 3)
				for i, got := range sum {
					pixel, channel := i/lanes, half*lanes+i%lanes
					first, second := vec.Unpair(pairs[pixel*lanes+channel/2])
					want := old[i] + []float32{first, second}[channel%2]
					if got != want && (got == got || want == want) {
						t.Fatalf("%d pixels, half %d: value %d is %g, want %g", pixels, half, i, got, want)
					}
				}
			}
		}
	})
}
