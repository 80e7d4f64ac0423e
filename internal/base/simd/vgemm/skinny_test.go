package vgemm

import (
	"fmt"
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
)

// eachSkinny checks products with m rows of n columns: odd lengths, rows that touch and rows that do not, arrays that end with the last value.
func eachSkinny(t *testing.T, check func(t *testing.T, m, n, pad int)) {
	simdtest.EachTarget(t, func(t *testing.T) {
		for m := 1; m <= 2; m++ {
			for n := 1; n <= 100; n++ {
				t.Run(fmt.Sprintf("%dx%d", m, n), func(t *testing.T) { check(t, m, n, n%3) })
			}
		}
	})
}

// matrix is rows of n values, n+pad apart, of which the last ends the array.
func matrix(rows, n, pad, off int) (all, values []float32, ld int) {
	ld = n + pad
	all, values = simdtest.Banded((rows-1)*ld+n, off)
	return all, values, ld
}

// TestDotRows: sums of other rows, or of fewer at once, are the same bits.
func TestDotRows(t *testing.T) {
	eachSkinny(t, func(t *testing.T, m, k, pad int) {
		_, a, lda := matrix(m, k, pad, 1)
		_, b, ldb := matrix(DotTile, k, 2*pad, 3)
		all, sums := simdtest.Banded(m*DotTile, 5)
		DotRows(sums, a, lda, m, b, ldb, DotTile, k)
		simdtest.CheckGuard(t, all, m*DotTile, 5)
		for n := range DotTile {
			few := make([]float32, m*n)
			DotRows(few, a, lda, m, b, ldb, n, k)
			for i := range m {
				for j := range n {
					if few[i*n+j] != sums[i*DotTile+j] {
						t.Fatalf("row %d of %d: %v, of %d: %v", j, n, few[i*n+j], DotTile, sums[i*DotTile+j])
					}
				}
			}
		}
		for i := range m {
			for j := range DotTile {
				var want, size float64
				for p := range k {
					v := float64(a[i*lda+p]) * float64(b[j*ldb+p])
					want, size = want+v, size+math.Abs(v)
				}
				if got := sums[i*DotTile+j]; !simdtest.Near(got, want, size, 4e-7) {
					t.Fatalf("sum %d,%d: %v, want %v", i, j, got, want)
				}
			}
		}
	})
	DotRows(nil, nil, 0, 0, nil, 0, 0, 0)
	sums := []float32{1}
	if DotRows(sums, nil, 0, 1, nil, 0, 1, 0); sums[0] != 0 {
		t.Errorf("the sum of no products is %v", sums[0])
	}
}

func TestMixRows(t *testing.T) {
	eachSkinny(t, func(t *testing.T, m, n, pad int) {
		for rows := range 10 {
			_, a, lda := matrix(m, max(1, rows), pad, 1)
			_, b, ldb := matrix(max(1, rows), n, pad, 2)
			all, d, ldd := matrix(m, n, 0, 4)
			before := append([]float32(nil), d...)
			MixRows(d, ldd, a, lda, m, b, ldb, rows, n)
			simdtest.CheckGuard(t, all, len(d), 4)
			for i := range m {
				for c := range n {
					want := float64(before[i*ldd+c])
					size := math.Abs(want)
					for r := range rows {
						v := float64(a[i*lda+r]) * float64(b[r*ldb+c])
						want, size = want+v, size+math.Abs(v)
					}
					if got := d[i*ldd+c]; !simdtest.Near(got, want, size, 4e-7) {
						t.Fatalf("%d rows, value %d,%d: %v, want %v", rows, i, c, got, want)
					}
				}
			}
		}
	})
}

// TestMixRowsOfSomeColumns: columns have the bits that they have among others, at every place where these are cut, however many rows are
// left when they have been taken by fours.
func TestMixRowsOfSomeColumns(t *testing.T) {
	simdtest.EachTarget(t, func(t *testing.T) {
		for n := 2; n <= 40; n++ {
			for rows := 1; rows <= 9; rows++ {
				_, a := simdtest.Banded(2*rows, 1)
				_, b, ldb := matrix(rows, n, 1, 2)
				_, all := simdtest.Banded(2*n, 3)
				want := append([]float32(nil), all...)
				MixRows(want, n, a, rows, 2, b, ldb, rows, n)
				for cut := 1; cut < n; cut++ {
					got := append([]float32(nil), all...)
					MixRows(got, n, a, rows, 2, b, ldb, rows, cut)
					MixRows(got[cut:], n, a, rows, 2, b[cut:], ldb, rows, n-cut)
					for i, v := range want {
						if got[i] != v {
							t.Fatalf("%d rows, %d columns cut at %d: value %d is %g, not cut %g", rows, n, cut, i, got[i], v)
						}
					}
				}
			}
		}
	})
}

func TestOuterRows(t *testing.T) {
	eachSkinny(t, func(t *testing.T, m, n, pad int) {
		for rows := range 4 {
			for _, add := range []bool{false, true} {
				_, a, lda := matrix(m, max(1, rows), pad, 1)
				_, x, ldx := matrix(m, n, pad, 2)
				all, d, ldd := matrix(max(1, rows), n, 0, 6)
				before := append([]float32(nil), d...)
				OuterRows(d, ldd, rows, a, lda, x, ldx, m, n, add)
				simdtest.CheckGuard(t, all, len(d), 6)
				for r := range rows {
					for c := range n {
						var want float64
						if add {
							want = float64(before[r*ldd+c])
						}
						size := math.Abs(want)
						for i := range m {
							v := float64(a[i*lda+r]) * float64(x[i*ldx+c])
							want, size = want+v, size+math.Abs(v)
						}
						if got := d[r*ldd+c]; !simdtest.Near(got, want, size, 4e-7) {
							t.Fatalf("rows %d add %v, value %d,%d: %v, want %v", rows, add, r, c, got, want)
						}
					}
				}
			}
		}
	})
}
