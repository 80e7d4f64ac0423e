package vconv

import (
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
)

// TestOffsetKernel: every number of pixels and blocks, several tiles, offsets in any order, with gaps between the blocks that are not written.
func TestOffsetKernel(t *testing.T) {
	simdtest.EachTarget(t, func(t *testing.T) {
		for pixels := 1; pixels <= OffsetPixels(); pixels++ {
			for n := 1; n <= 2; n++ {
				for tiles := 1; tiles <= 3; tiles++ {
					testOffsets(t, OffsetTiles{Tiles: tiles, N: pixels, Step: 1 + (pixels+n)%4, JumpC: tiles*pixels*isa.BlockLanes + 5}, n, []int{7, 0, 31, 2, 19, 4, 3}[:1+(pixels+tiles)%7])
				}
			}
		}
	})
}

func testOffsets(t *testing.T, r OffsetTiles, n int, offs []int) {
	all, jump := r.Tiles*r.N, r.JumpC
	_, x := simdtest.Banded(32+all*r.Step, 1)
	_, b := simdtest.Banded(len(offs)*32, 2)
	_, start := simdtest.Banded(n*isa.BlockLanes, 3)
	size := (n-1)*jump + all*isa.BlockLanes
	guarded, c := simdtest.Banded(size, 4)
	for way := range 4 {
		accumulate, floor := way%2 > 0, way > 1
		old := append([]float32(nil), c...)
		OffsetKernel(&r, offs, x, b, start, c, n, accumulate, floor)
		simdtest.CheckGuard(t, guarded, size, 4)
		for at, got := range c {
			j, i := at/jump*isa.BlockLanes+at%jump%isa.BlockLanes, at%jump/isa.BlockLanes
			want, scale := float64(old[at]), 1.0
			if i < all {
				if !accumulate {
					want = 0
				}
				want += float64(start[j])
				for k, o := range offs {
					term := float64(x[o+i*r.Step]) * float64(b[k*32+j])
					want, scale = want+term, scale+max(term, -term)
				}
				if floor {
					want = max(want, 0)
				}
			}
			if !simdtest.Near(got, want, scale, 1e-6) {
				t.Fatalf("%+v, %d blocks, accumulate %v, floor %v: %g at pixel %d, column %d, want %g", r, n, accumulate, floor, got, i, j, want)
			}
		}
	}
}

// TestOffsetSums: every number of lines and offsets, over rows of some pixels that are 1 to 4 values apart.
func TestOffsetSums(t *testing.T) {
	simdtest.EachTarget(t, func(t *testing.T) {
		most, lines := OffsetSumSize()
		for width := 1; width <= most; width++ {
			for l := 1; l <= min(lines, most/width); l++ {
				for n := 1; n <= 2; n++ {
					testOffsetSums(t, l, width, n, 1+(width+l)%3, 1+(width+3*l+n)%6, 1+(width+n)%4)
				}
			}
		}
	})
}

func testOffsetSums(t *testing.T, lines, width, n, rows, pixels, step int) {
	r := OffsetRows{Rows: rows, N: pixels, Step: step, NextX: pixels*step + 2, JumpY: rows*(pixels*16+48) + 32, NextY: pixels*16 + 48}
	at := []int{40, 3, 77, 21}[:lines]
	_, x := simdtest.Banded(77+rows*r.NextX+width, 1)
	_, y := simdtest.Banded(2*r.JumpY, 2)
	size := (lines*width-1)*32 + n*isa.BlockLanes
	guarded, c := simdtest.Banded(size, 3)
	for _, accumulate := range []bool{false, true} {
		old := append([]float32(nil), c...)
		OffsetSums(&r, at, width, x, y, c, n, accumulate)
		simdtest.CheckGuard(t, guarded, size, 3)
		for place, got := range c {
			i, j := place/32, place%32
			want, scale := float64(old[place]), 1.0
			if j < n*isa.BlockLanes {
				if !accumulate {
					want = 0
				}
				for p := range rows * pixels {
					row, p := p/pixels, p%pixels
					term := float64(x[at[i/width]+row*r.NextX+p*step+i%width]) * float64(y[j/16*r.JumpY+row*r.NextY+p*16+j%16])
					want, scale = want+term, scale+max(term, -term)
				}
			}
			if !simdtest.Near(got, want, scale, 1e-6) {
				t.Fatalf("%d lines of %d, %d blocks, accumulate %v: %g at offset %d, column %d, want %g", lines, width, n, accumulate, got, i, j, want)
			}
		}
	}
}

// BenchmarkOffsetKernel multiplies operands that lie in L1: a kernel of 7x7 for three channels.
func BenchmarkOffsetKernel(b *testing.B) {
	offs := make([]int, 147)
	for i := range offs {
		offs[i] = i
	}
	const tiles = 4
	pixels := OffsetPixels()
	r := OffsetTiles{Tiles: tiles, N: pixels, Step: 2, JumpC: tiles * pixels * 16}
	x, w, start, y := make([]float32, 300), make([]float32, 147*32), make([]float32, 32), make([]float32, 2*tiles*pixels*16)
	for b.Loop() {
		OffsetKernel(&r, offs, x, w, start, y, 2, false, false)
	}
	b.ReportMetric(float64(b.N)*2*147*32*float64(tiles*pixels)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}

// BenchmarkOffsetSums multiplies operands that lie in L1, for kernels of common widths.
func BenchmarkOffsetSums(b *testing.B) {
	most, _ := OffsetSumSize()
	x, y, c := make([]float32, 1024), make([]float32, 2*100*16), make([]float32, 14*32)
	for _, size := range [][2]int{{1, 11}, {2, 7}, {1, 7}, {2, 5}, {3, 3}, {4, 3}} {
		lines, width := size[0], min(size[1], most/size[0])
		b.Run(string(rune('0'+lines))+" lines", func(b *testing.B) {
			r := OffsetRows{Rows: 1, N: 100, Step: 2, JumpY: 1600}
			for b.Loop() {
				OffsetSums(&r, []int{0, 230, 460, 690}[:lines], width, x, y, c, 2, true)
			}
			b.ReportMetric(float64(b.N)*2*100*32*float64(lines*width)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}
