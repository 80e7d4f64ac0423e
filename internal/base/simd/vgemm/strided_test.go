package vgemm

import (
	"slices"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
)

// TestStridedPanel compares every level with sums in float64: of one tile or of some, m rows and n columns are stored, and nothing else is
// written. Values of B's rows, and where A is stored by columns those of its columns, end with the last vector that is read.
func TestStridedPanel(t *testing.T) {
	simdtest.EachTarget(t, func(t *testing.T) {
		mr, nr := Tile()
		for _, k := range []int{0, 1, 2, 3, 7, 77} {
			for m := range 3*mr + 1 {
				for n := 1; n <= nr; n++ {
					checkStrided(t, m, n, k, (m+n)%2 == 0, m/2%2 == 0)
				}
			}
		}
	})
}

func checkStrided(t *testing.T, m, n, k int, byRows, accumulate bool) {
	width := max(1, isa.Lanes())
	ldb, ldc := (n+width-1)/width*width, n+3
	row, col := k, 1
	if !byRows {
		row, col = 1, StridedRows(m)
	}
	_, a := simdtest.Banded(StridedRows(m)*k, 1)
	_, b := simdtest.Banded(k*ldb, 2)
	all, c := simdtest.Banded(m*ldc, 4)
	old := slices.Clone(c)
	StridedPanel(m, n, k, a, row, col, b, ldb, c, ldc, accumulate)
	simdtest.CheckGuard(t, all, m*ldc, 4)
	for at, got := range c {
		i, j := at/ldc, at%ldc
		want := float64(old[at])
		if j < n {
			if !accumulate {
				want = 0
			}
			for p := range k {
				want += float64(a[i*row+p*col]) * float64(b[p*ldb+j])
			}
		}
		if d := float64(got) - want; d > 1e-3 || d < -1e-3 {
			t.Fatalf("%dx%d, %d products, rows of A side by side: %v: %g at row %d, column %d, want %g", m, n, k, byRows, got, i, j, want)
		}
	}
}

// TestStridedTiles: rows of many tiles are those that are computed tile by tile, and nothing else is written.
func TestStridedTiles(t *testing.T) {
	simdtest.EachTarget(t, func(t *testing.T) {
		mr, nr := Tile()
		for _, k := range []int{0, 1, 7, 64} {
			for m := range 3*mr + 1 {
				for _, byRows := range []bool{true, false} {
					for _, n := range []int{nr/2 - 1, nr / 2, nr - 1, nr} {
						checkStridedTiles(t, m, n, k, byRows)
					}
				}
			}
		}
	})
}

func checkStridedTiles(t *testing.T, m, n, k int, byRows bool) {
	mr, nr := Tile()
	rows, ldc := (m+mr-1)/mr*mr, nr+3
	row, col := k, 1
	if !byRows {
		row, col = 1, rows
	}
	a, b := simdtest.Pseudo(rows*(k+1)+1, 1), simdtest.Pseudo(k*nr+1, 2)
	got, want := simdtest.Pseudo(rows*ldc+1, 3), simdtest.Pseudo(rows*ldc+1, 3)
	for i := 0; i < m; i += mr {
		StridedPanel(min(mr, m-i), n, k, a[i*row:], row, col, b, nr, want[i*ldc:], ldc, true)
	}
	StridedPanel(m, n, k, a, row, col, b, nr, got, ldc, true)
	if !slices.Equal(got, want) {
		t.Errorf("%dx%d, %d products, rows of A side by side: %v: another result than tile by tile", m, n, k, byRows)
	}
}
