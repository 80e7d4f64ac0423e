package simd

import "testing"

// TestTapKernel: every number of pixels, one or several tiles, offsets in any order, results that lie apart, of which nothing between is
// written; and no offset at all.
func TestTapKernel(t *testing.T) {
	each(t, func(t *testing.T) {
		for pixels := 1; pixels <= 3*tapPixels; pixels++ {
			all := []int{7, 0, 131, 2, 64, 48, 3, 16, 90}
			testTaps(t, TapPixels{pixels, 16 * (1 + pixels%4), 16 * (1 + pixels%3)}, all[:pixels%(len(all)+1)])
		}
	})
}

func testTaps(t *testing.T, r TapPixels, offs []int) {
	_, x := banded(132+(r.N-1)*r.Step+BlockLanes, 1)
	_, w := banded(len(offs)*BlockLanes, 2)
	_, start := banded(BlockLanes, 3)
	size := (r.N-1)*r.To + BlockLanes
	guarded, c := banded(size, 4)
	for _, floor := range []bool{false, true} {
		old := append([]float32(nil), c...)
		TapKernel(&r, offs, x, w, start, c, floor)
		checkGuard(t, guarded, size, 4)
		for at, got := range c {
			i, j := at/r.To, at%r.To
			if j >= BlockLanes {
				if got != old[at] {
					t.Fatalf("%+v: value %d behind pixel %d is written", r, j, i)
				}
				continue
			}
			want, scale := float64(start[j]), 1.0
			for k, o := range offs {
				term := float64(x[o+i*r.Step+j]) * float64(w[k*BlockLanes+j])
				want, scale = want+term, scale+max(term, -term)
			}
			if floor {
				want = max(want, 0)
			}
			if !near(got, want, scale, 1e-6) {
				t.Fatalf("%+v, %d offsets, floor %v: %g at pixel %d, channel %d, want %g", r, len(offs), floor, got, i, j, want)
			}
		}
	}
}

// TestTapSums: every number of offsets and more than are summed at once, over rows of some pixels that are 1 to 4 pixels apart.
func TestTapSums(t *testing.T) {
	each(t, func(t *testing.T) {
		for offsets := 1; offsets <= 2*tapOffsets+1; offsets++ {
			for pixels := 1; pixels <= 5; pixels++ {
				step := 16 * (1 + (offsets+pixels)%4)
				testTapSums(t, TapRows{1 + pixels%3, pixels, step, pixels*step + 32, pixels*BlockLanes + 16*(offsets%2)}, offsets)
			}
		}
	})
}

func testTapSums(t *testing.T, r TapRows, offsets int) {
	offs := make([]int, offsets)
	for i := range offs {
		offs[i] = (i * 37 % 11) * 8
	}
	_, x := banded(80+r.Rows*r.NextX+BlockLanes, 1)
	_, y := banded(r.Rows*r.NextY, 2)
	guarded, c := banded(offsets*BlockLanes, 3)
	for _, accumulate := range []bool{false, true} {
		old := append([]float32(nil), c...)
		TapSums(&r, offs, x, y, c, accumulate)
		checkGuard(t, guarded, len(c), 3)
		for at, got := range c {
			want, scale := 0.0, 1.0
			if accumulate {
				want = float64(old[at])
			}
			for row := range r.Rows {
				for p := range r.N {
					term := float64(x[offs[at/BlockLanes]+row*r.NextX+p*r.Step+at%BlockLanes]) * float64(y[row*r.NextY+p*BlockLanes+at%BlockLanes])
					want, scale = want+term, scale+max(term, -term)
				}
			}
			if !near(got, want, scale, 1e-6) {
				t.Fatalf("%+v, %d offsets, accumulate %v: %g for offset %d, channel %d, want %g", r, offsets, accumulate, got, at/BlockLanes, at%BlockLanes, want)
			}
		}
	}
}
