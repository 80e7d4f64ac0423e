package vconv

import (
	"fmt"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// TestPairKernel: on every level, results have the bits that rounding and adding in the stated order give, for every number of pixels of one to three tiles,
// with whole and half blocks of pairs.
func TestPairKernel(t *testing.T) {
	simdtest.EachTarget(t, func(t *testing.T) {
		for rows := 1; rows <= 3*PixelRows(); rows++ {
			for n := 1; n <= 2; n++ {
				for _, blocks := range []int{1, 2, 5} {
					t.Run(fmt.Sprintf("%d pixels, %d blocks of %d", rows, n, blocks), func(t *testing.T) { testPairs(t, rows, n, blocks) })
				}
			}
		}
	})
}

func testPairs(t *testing.T, rows, n, blocks int) {
	const lanes = isa.BlockLanes
	jump, deep := rows*lanes+5, (blocks+1)/2
	jumpC := rows*lanes + 3
	_, x := simdtest.Banded((blocks-1)*jump+rows*lanes, 1)
	_, w := simdtest.Banded(deep*PairBlock*32, 2)
	_, start := simdtest.Banded(n*lanes, 3)
	allA, a := simdtest.Banded(PairPlaces(deep*PairBlock*rows), 5)
	allB, b := simdtest.Banded(PairPlaces(len(w)), 6)
	RoundPixels(a, x, jump, blocks, rows)
	RoundPanel(b, w, deep*PairBlock)
	simdtest.CheckGuard(t, allA, len(a), 5)
	simdtest.CheckGuard(t, allB, len(b), 6)
	value := func(i, p int) float32 {
		if p >= blocks*lanes {
			return 0
		}
		return vec.BFloat16(x[p/lanes*jump+i*lanes+p%lanes])
	}
	size := (n-1)*jumpC + rows*lanes
	all, c := simdtest.Banded(size, 4)
	for way := range 4 {
		accumulate, floor := way%2 > 0, way > 1
		old := append([]float32(nil), c...)
		PairKernel(deep, a, PairPlaces(PairBlock*rows), b, start, c, jumpC, rows, n, accumulate, floor)
		simdtest.CheckGuard(t, all, size, 4)
		for at, got := range c {
			j, i, want := at/jumpC*lanes+at%jumpC%lanes, at%jumpC/lanes, old[at]
			if i < rows {
				want = start[j]
				for p := 0; p < deep*PairBlock; p += 2 { // products of bfloat16 are exact in float32
					want += value(i, p+1) * vec.BFloat16(w[(p+1)*32+j])
					want += value(i, p) * vec.BFloat16(w[p*32+j])
				}
				if accumulate {
					want += old[at]
				}
				if floor {
					want = max(want, 0)
				}
			}
			if got != want {
				t.Fatalf("accumulate %v, floor %v: %g at pixel %d, column %d, want %g", accumulate, floor, got, i, j, want)
			}
		}
	}
}

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

// TestRoundPixelsInPlace: pixels whose blocks lie one behind another can be rounded where they are.
func TestRoundPixelsInPlace(t *testing.T) {
	simdtest.EachTarget(t, func(t *testing.T) {
		for _, blocks := range []int{2, 4, 6} {
			const rows = 7
			_, x := simdtest.Banded(blocks*rows*isa.BlockLanes, 1)
			want := make([]float32, PairPlaces(len(x)))
			RoundPixels(want, x, rows*isa.BlockLanes, blocks, rows)
			RoundPixels(x, x, rows*isa.BlockLanes, blocks, rows)
			if got := fmt.Sprintf("%x", x[:len(want)]); got != fmt.Sprintf("%x", want) {
				t.Errorf("%d blocks: %s", blocks, got)
			}
		}
	})
}

// TestUnroundPanel: the values of a panel are the rounded ones.
func TestUnroundPanel(t *testing.T) {
	simdtest.EachTarget(t, func(t *testing.T) {
		for _, k := range []int{2, 32, 34} {
			_, w := simdtest.Banded(k*pixelPanel, 1)
			panel, got := make([]float32, PairPlaces(len(w))), make([]float32, len(w))
			RoundPanel(panel, w, k)
			UnroundPanel(got, panel, k)
			for i, v := range w {
				if got[i] != vec.BFloat16(v) {
					t.Fatalf("%d rows: value %d is %g, want %g", k, i, got[i], vec.BFloat16(v))
				}
			}
		}
	})
}

// BenchmarkPairKernel multiplies operands that lie in L1.
func BenchmarkPairKernel(b *testing.B) {
	const blocks = 8
	rows := PixelRows()
	x, w, start, y := make([]float32, blocks*PairBlock*rows), make([]float32, blocks*PairBlock*32), make([]float32, 32), make([]float32, 32*rows)
	for b.Loop() {
		PairKernel(blocks, x, PairPlaces(PairBlock*rows), w, start, y, 16*rows, rows, 2, false, false)
	}
	b.ReportMetric(float64(b.N)*2*blocks*PairBlock*32*float64(rows)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}
