package simd

import (
	"slices"
	"testing"
)

// TestStridedEdge: of tiles whose operands are not packed m rows and n columns are stored, and nothing else is written.
func TestStridedEdge(t *testing.T) {
	each(t, func(t *testing.T) {
		mr, nr := Micro()
		const k = 7
		for m := 1; m <= 3*mr; m++ {
			for n := 1; n <= nr; n++ {
				accumulate, ldc := (m+n)%2 == 0, n+3
				_, a := banded(StridedRows(m)*k, 1)
				_, b := banded(k*nr, 2)
				all, c := banded(m*ldc, 4)
				old := append([]float32(nil), c...)
				StridedEdge(k, a, k, 1, b, nr, c, ldc, m, n, accumulate)
				checkGuard(t, all, m*ldc, 4)
				for at, got := range c {
					i, j := at/ldc, at%ldc
					want := float64(old[at])
					if j < n {
						if !accumulate {
							want = 0
						}
						for p := range k {
							want += float64(a[i*k+p]) * float64(b[p*nr+j])
						}
					}
					if d := float64(got) - want; d > 1e-3 || d < -1e-3 {
						t.Fatalf("%dx%d: %g at row %d, column %d, want %g", m, n, got, i, j, want)
					}
				}
			}
		}
	})
}

// TestStridedPanel: rows of many tiles, of one or two vectors of columns, are those that are computed tile by tile, and nothing else is
// written.
func TestStridedPanel(t *testing.T) {
	each(t, func(t *testing.T) {
		mr, nr := Micro()
		for _, k := range []int{0, 1, 7, 64} {
			for m := range 3*mr + 1 {
				for _, byRows := range []bool{true, false} {
					for _, n := range []int{nr / 2, nr} {
						checkStridedPanel(t, m, n, k, byRows)
					}
				}
			}
		}
	})
}

func checkStridedPanel(t *testing.T, m, n, k int, byRows bool) {
	mr, nr := Micro()
	rows, ldc := (m+mr-1)/mr*mr, nr+3
	row, col := k, 1
	if !byRows {
		row, col = 1, rows
	}
	a, b := pseudo(rows*(k+1)+1, 1), pseudo(k*nr+1, 2)
	got, want := pseudo(rows*ldc+1, 3), pseudo(rows*ldc+1, 3)
	for i := 0; i < m; i += mr {
		StridedEdge(k, a[i*row:], row, col, b, nr, want[i*ldc:], ldc, min(mr, m-i), n, true)
	}
	StridedPanel(m, n, k, a, row, col, b, nr, got, ldc, true, a)
	if !slices.Equal(got, want) {
		t.Errorf("%dx%d, %d products, rows of A side by side: %v: another result than tile by tile", m, n, k, byRows)
	}
}
