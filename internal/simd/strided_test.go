package simd

import "testing"

// TestStridedEdge: of a tile whose operands are not packed m rows and n columns are stored, and nothing else is written.
func TestStridedEdge(t *testing.T) {
	each(t, func(t *testing.T) {
		mr, nr := Micro()
		const k = 7
		for m := 1; m <= mr; m++ {
			for n := 1; n <= nr; n++ {
				accumulate, ldc := (m+n)%2 == 0, n+3
				_, a := banded(mr*k, 1)
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
