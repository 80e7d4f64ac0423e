package vconv

import (
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
)

// TestTapKernel: every number of pixels, one or several rows and tiles, offsets in any order, results that lie apart, of which nothing between is
// written; and no offset at all.
func TestTapKernel(t *testing.T) {
	simdtest.EachTarget(t, func(t *testing.T) {
		for pixels := 1; pixels <= 3*14; pixels++ {
			all := []int{7, 0, 131, 2, 64, 48, 3, 16, 90}
			step, to := 16*(1+pixels%4), 16*(1+pixels%3)
			testTaps(t, TapPixels{1 + pixels%4, pixels, step, pixels*step + 48, to, pixels*to + 32*(pixels%2)}, all[:pixels%(len(all)+1)])
		}
	})
}

func testTaps(t *testing.T, r TapPixels, offs []int) {
	_, x := simdtest.Banded(132+(r.Rows-1)*r.NextX+(r.N-1)*r.Step+isa.BlockLanes, 1)
	_, w := simdtest.Banded(len(offs)*isa.BlockLanes, 2)
	_, start := simdtest.Banded(isa.BlockLanes, 3)
	size := (r.Rows-1)*r.NextC + (r.N-1)*r.To + isa.BlockLanes
	guarded, c := simdtest.Banded(size, 4)
	for _, floor := range []bool{false, true} {
		old := append([]float32(nil), c...)
		TapKernel(&r, offs, x, w, start, c, floor)
		simdtest.CheckGuard(t, guarded, size, 4)
		for at, got := range c {
			row, i, j := at/r.NextC, at%r.NextC/r.To, at%r.NextC%r.To
			if i >= r.N || j >= isa.BlockLanes {
				if got != old[at] {
					t.Fatalf("%+v: value %d behind pixel %d of row %d is written", r, j, i, row)
				}
				continue
			}
			want, scale := float64(start[j]), 1.0
			for k, o := range offs {
				term := float64(x[o+row*r.NextX+i*r.Step+j]) * float64(w[k*isa.BlockLanes+j])
				want, scale = want+term, scale+max(term, -term)
			}
			if floor {
				want = max(want, 0)
			}
			if !simdtest.Near(got, want, scale, 1e-6) {
				t.Fatalf("%+v, %d offsets, floor %v: %g in row %d at pixel %d, channel %d, want %g", r, len(offs), floor, got, row, i, j, want)
			}
		}
	}
}

// TestTapSums: every number of offsets and more than are summed at once, over rows of some pixels that are 1 to 4 pixels apart.
func TestTapSums(t *testing.T) {
	simdtest.EachTarget(t, func(t *testing.T) {
		for offsets := 1; offsets <= 2*tapOffsets+1; offsets++ {
			for pixels := 1; pixels <= 5; pixels++ {
				step := 16 * (1 + (offsets+pixels)%4)
				testTapSums(t, TapRows{1 + pixels%3, pixels, step, pixels*step + 32, pixels*isa.BlockLanes + 16*(offsets%2)}, offsets)
			}
		}
	})
}

func testTapSums(t *testing.T, r TapRows, offsets int) {
	offs := make([]int, offsets)
	for i := range offs {
		offs[i] = (i * 37 % 11) * 8
	}
	_, x := simdtest.Banded(80+r.Rows*r.NextX+isa.BlockLanes, 1)
	_, y := simdtest.Banded(r.Rows*r.NextY, 2)
	guarded, c := simdtest.Banded(offsets*isa.BlockLanes, 3)
	for _, accumulate := range []bool{false, true} {
		old := append([]float32(nil), c...)
		TapSums(&r, offs, x, y, c, accumulate)
		simdtest.CheckGuard(t, guarded, len(c), 3)
		for at, got := range c {
			want, scale := 0.0, 1.0
			if accumulate {
				want = float64(old[at])
			}
			for row := range r.Rows {
				for p := range r.N {
					term := float64(x[offs[at/isa.BlockLanes]+row*r.NextX+p*r.Step+at%isa.BlockLanes]) * float64(y[row*r.NextY+p*isa.BlockLanes+at%isa.BlockLanes])
					want, scale = want+term, scale+max(term, -term)
				}
			}
			if !simdtest.Near(got, want, scale, 1e-6) {
				t.Fatalf("%+v, %d offsets, accumulate %v: %g for offset %d, channel %d, want %g", r, offsets, accumulate, got, at/isa.BlockLanes, at%isa.BlockLanes, want)
			}
		}
	}
}
