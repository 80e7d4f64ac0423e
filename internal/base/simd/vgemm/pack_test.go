package vgemm

import (
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
)

// TestPackB: whole panels hold the columns of the source, and nothing else is written.
func TestPackB(t *testing.T) {
	simdtest.EachTarget(t, func(t *testing.T) {
		_, nr := Tile()
		for _, k := range []int{0, 1, 2, 7} {
			for _, panels := range []int{0, 1, 2, 3} {
				ld := panels*nr + 3
				_, src := simdtest.Banded(k*ld, 1)
				all, dst := simdtest.Banded(k*panels*nr, 5)
				PackB(dst, src, ld, k, panels, nr)
				simdtest.CheckGuard(t, all, k*panels*nr, 5)
				for p := range k {
					for j := range panels * nr {
						if got, want := dst[j/nr*nr*k+p*nr+j%nr], src[p*ld+j]; got != want {
							t.Fatalf("%d rows, %d panels: %g at row %d, column %d, want %g", k, panels, got, p, j, want)
						}
					}
				}
			}
		}
	})
}

// TestPackA: panels of any number of rows and columns hold the rows of the source, then zeros, and nothing else is written.
func TestPackA(t *testing.T) {
	simdtest.EachTarget(t, func(t *testing.T) {
		mr, _ := Tile()
		for k := range 36 {
			for rows := range mr + 1 {
				ld := k + 3
				_, src := simdtest.Banded(rows*ld, 1)
				all, dst := simdtest.Banded(k*mr, 5)
				PackA(dst, src, ld, rows, k, mr)
				simdtest.CheckGuard(t, all, k*mr, 5)
				for i, got := range dst {
					want := float32(0)
					if i%mr < rows {
						want = src[i%mr*ld+i/mr]
					}
					if got != want {
						t.Fatalf("%d rows of %d: %g at %d, want %g", rows, k, got, i, want)
					}
				}
			}
		}
	})
}
