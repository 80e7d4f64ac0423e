package vconv

import (
	"fmt"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
)

// TestPixelKernel: every number of pixels of one to three tiles, and of blocks, with gaps between the blocks that are not written.
func TestPixelKernel(t *testing.T) {
	simdtest.EachTarget(t, func(t *testing.T) {
		for rows := 1; rows <= 3*PixelRows(); rows++ {
			for n := 1; n <= 2; n++ {
				for _, blocks := range []int{1, 3} {
					t.Run(fmt.Sprintf("%d pixels, %d blocks of %d", rows, n, blocks), func(t *testing.T) { testPixels(t, rows, n, blocks) })
				}
			}
		}
	})
}

func testPixels(t *testing.T, rows, n, blocks int) {
	jumpA, jumpC := rows*isa.BlockLanes+isa.BlockLanes, rows*isa.BlockLanes+3
	_, a := simdtest.Banded((blocks-1)*jumpA+rows*isa.BlockLanes, 1)
	_, b := simdtest.Banded(blocks*isa.BlockLanes*32, 2)
	_, start := simdtest.Banded(n*isa.BlockLanes, 3)
	size := (n-1)*jumpC + rows*isa.BlockLanes
	all, c := simdtest.Banded(size, 4)
	for way := range 4 {
		accumulate, floor := way%2 > 0, way > 1
		old := append([]float32(nil), c...)
		PixelKernel(blocks, a, jumpA, b, start, c, jumpC, rows, n, accumulate, floor)
		simdtest.CheckGuard(t, all, size, 4)
		for at, got := range c {
			j, i := at/jumpC*isa.BlockLanes+at%jumpC%isa.BlockLanes, at%jumpC/isa.BlockLanes
			want, scale := float64(old[at]), 1.0
			if i < rows {
				if !accumulate {
					want = 0
				}
				want += float64(start[j])
				for p := range blocks * isa.BlockLanes {
					term := float64(a[p/16*jumpA+i*16+p%16]) * float64(b[p*32+j])
					want, scale = want+term, scale+max(term, -term)
				}
				if floor {
					want = max(want, 0)
				}
			}
			if !simdtest.Near(got, want, scale, 1e-6) {
				t.Fatalf("accumulate %v, floor %v: %g at pixel %d, column %d, want %g", accumulate, floor, got, i, j, want)
			}
		}
	}
}

// TestPixelSums: every number of rows of some tiles, from the first, second and third tile on, and of columns, over several runs of pixels.
func TestPixelSums(t *testing.T) {
	simdtest.EachTarget(t, func(t *testing.T) {
		rows, blocks := PixelSumSize()
		for m := 1; m <= 3*rows; m++ {
			for n := 1; n <= blocks*isa.BlockLanes; n++ {
				testPixelSums(t, m%3*rows, m, n, 1+(m+n)%3, 1+(m*n)%10)
			}
		}
	})
}

func testPixelSums(t *testing.T, first, m, n, runs, pixels int) {
	columns, ldc, high := (n+isa.BlockLanes-1)/isa.BlockLanes, n+3, (first+m+isa.BlockLanes-1)/isa.BlockLanes
	jump := pixels*16 + 16
	r := PixelRuns{Runs: runs, N: pixels, NextA: high*jump + 32, NextB: columns*jump + 5, JumpA: jump, JumpB: jump}
	_, a := simdtest.Banded(runs*r.NextA, 1)
	_, b := simdtest.Banded(runs*r.NextB, 2)
	all, c := simdtest.Banded(m*ldc, 3)
	for way := range 4 {
		accumulate := way%2 > 0
		if r.Ahead = nil; way > 1 {
			r.Ahead, r.NextAhead = a, r.NextA
		}
		old := append([]float32(nil), c...)
		PixelSums(&r, a, b, c, ldc, first, m, n, accumulate)
		simdtest.CheckGuard(t, all, m*ldc, 3)
		for at, got := range c {
			i, j := first+at/ldc, at%ldc
			want, scale := float64(old[at]), 1.0
			if j < n {
				if !accumulate {
					want = 0
				}
				for p := range runs * pixels {
					run, p := p/pixels, p%pixels
					term := float64(a[run*r.NextA+i/16*r.JumpA+p*16+i%16]) * float64(b[run*r.NextB+j/16*r.JumpB+p*16+j%16])
					want, scale = want+term, scale+max(term, -term)
				}
			}
			if !simdtest.Near(got, want, scale, 1e-6) {
				t.Fatalf("rows from %d on, %dx%d, accumulate %v: %g at row %d, column %d, want %g", first, m, n, accumulate, got, i, j, want)
			}
		}
	}
}

// BenchmarkPixelKernel multiplies operands that lie in L1.
func BenchmarkPixelKernel(b *testing.B) {
	const blocks = 8
	rows, jump := PixelRows(), 16*PixelRows()
	x, w, start, y := make([]float32, blocks*jump), make([]float32, blocks*16*32), make([]float32, 32), make([]float32, 2*jump)
	for b.Loop() {
		PixelKernel(blocks, x, jump, w, start, y, jump, rows, 2, false, false)
	}
	b.ReportMetric(float64(b.N)*2*blocks*16*32*float64(rows)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

// BenchmarkPixelSums multiplies operands that lie in L1.
func BenchmarkPixelSums(b *testing.B) {
	rows, blocks := PixelSumSize()
	r := PixelRuns{Runs: 1, N: 96, JumpB: 96 * 16}
	x, w, y := make([]float32, 96*16), make([]float32, blocks*96*16), make([]float32, rows*blocks*16)
	for b.Loop() {
		PixelSums(&r, x, w, y, blocks*16, 0, rows, blocks*16, true)
	}
	b.ReportMetric(float64(b.N)*2*96*16*float64(rows*blocks)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}
