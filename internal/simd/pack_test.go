package simd

import "testing"

// TestPackB: whole panels hold the columns of the source, and nothing else is written.
func TestPackB(t *testing.T) {
	each(t, func(t *testing.T) {
		_, nr := Micro()
		for _, k := range []int{0, 1, 2, 7} {
			for _, panels := range []int{0, 1, 2, 3} {
				ld := panels*nr + 3
				_, src := banded(k*ld, 1)
				all, dst := banded(k*panels*nr, 5)
				PackB(dst, src, ld, k, panels, nr)
				checkGuard(t, all, k*panels*nr, 5)
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

// TestCopyRows: rows of any length are copied, and what lies between them stays.
func TestCopyRows(t *testing.T) {
	each(t, func(t *testing.T) {
		for _, rows := range []int{0, 1, 3} {
			for n := range 70 {
				ldd, lds := n+2, n+5
				_, src := banded(rows*lds, 1)
				all, dst := banded(rows*ldd, 3)
				old := append([]float32(nil), dst...)
				CopyRows(dst, ldd, src, lds, rows, n)
				checkGuard(t, all, rows*ldd, 3)
				for i, got := range dst {
					want := old[i]
					if i%ldd < n {
						want = src[i/ldd*lds+i%ldd]
					}
					if got != want {
						t.Fatalf("%d rows of %d: %g at %d, want %g", rows, n, got, i, want)
					}
				}
			}
		}
	})
}

// TestGatherRows: rows of up to two vectors are copied from anywhere, and what lies between them stays.
func TestGatherRows(t *testing.T) {
	each(t, func(t *testing.T) {
		_, nr := Micro()
		offs := []int{5, 0, 190, 7, 33}
		for rows := range len(offs) + 1 {
			for n := range nr + 1 {
				ldd := n + 3
				src := pseudo(190+nr, 1)
				all, dst := banded(rows*ldd, 3)
				old := append([]float32(nil), dst...)
				GatherRows(dst, ldd, src, offs[:rows], n)
				checkGuard(t, all, rows*ldd, 3)
				for i, got := range dst {
					want := old[i]
					if i%ldd < n {
						want = src[offs[i/ldd]+i%ldd]
					}
					if got != want {
						t.Fatalf("%d rows of %d: %g at %d, want %g", rows, n, got, i, want)
					}
				}
			}
		}
	})
}

// TestPackA: panels of any number of rows and columns hold the rows of the source, then zeros, and nothing else is written.
func TestPackA(t *testing.T) {
	each(t, func(t *testing.T) {
		mr, _ := Micro()
		for k := range 36 {
			for rows := range mr + 1 {
				ld := k + 3
				_, src := banded(rows*ld, 1)
				all, dst := banded(k*mr, 5)
				PackA(dst, src, ld, rows, k, mr)
				checkGuard(t, all, k*mr, 5)
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
