package simd

// Panels returns the row counts of the two panels of A that ScatteredKernel multiplies, and the lanes of one of the two
// vectors that its tile is wide.
func Panels() (wide, narrow, lanes int) { return active.mr, active.narrow, active.nr / 2 }

// Scatter is where the tile of a ScatteredKernel lies: Rows of C, LDC values apart, each of two vectors; the second one is
// CGap values behind the first in C and Gap values in B. Of the first N0 lanes are stored, of the second N1.
type Scatter struct{ Rows, LDC, Gap, CGap, N0, N1 int }

// ScatteredKernel is a micro kernel whose B is not packed: row p of B is one vector at b[offs[p]:] and one at
// b[offs[p]+Gap:]. It sets C, or adds to it: C[i][j] (+)= Σp a[p*Rows+i]*b[offs[p]+j] over p < k = len(offs). Rows is one of
// the counts that Panels returns. All lanes of B are read, stored or not.
func ScatteredKernel(s *Scatter, a, b []float32, offs []int, c []float32, accumulate bool) {
	l, k := active, len(offs)
	if l.width == 0 || k == 0 {
		scatteredGo(s, l.nr/2, a, b, offs, c, accumulate)
		return
	}
	_ = a[k*s.Rows-1]
	l.scattered(s, k, &a[0], &b[0], &offs[0], &c[0], &maskWords[16-s.N0], &maskWords[16-s.N1], accumulate)
}

// maskWords is a mask of n lanes from 16-n on.
var maskWords = [32]int32{-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}

func scatteredGo(s *Scatter, lanes int, a, b []float32, offs []int, c []float32, accumulate bool) {
	for i := range s.Rows {
		for half, n := range [2]int{s.N0, s.N1} {
			var t [16]float32
			for p, at := range offs {
				v := a[p*s.Rows+i]
				for j, w := range b[at+half*s.Gap:][:lanes] {
					t[j] += v * w
				}
			}
			to := c[i*s.LDC+half*s.CGap:][:n]
			for j := range to {
				if accumulate {
					to[j] += t[j]
				} else {
					to[j] = t[j]
				}
			}
		}
	}
}

// Transpose sets dst[j*ldd+i] = src[i*lds+j] for rows i and columns j.
func Transpose(dst, src []float32, ldd, lds, rows, cols int) {
	if rows == 0 || cols == 0 {
		return
	}
	_, _ = dst[(cols-1)*ldd+rows-1], src[(rows-1)*lds+cols-1]
	i, whole := 0, cols&^3
	if l := active; l.width > 0 && whole > 0 {
		for ; i+4 <= rows; i += 4 {
			l.transpose(&dst[i], &src[i*lds], ldd, lds, whole)
			for j := whole; j < cols; j++ {
				for r := i; r < i+4; r++ {
					dst[j*ldd+r] = src[r*lds+j]
				}
			}
		}
	}
	for ; i < rows; i++ {
		for j, v := range src[i*lds : i*lds+cols] {
			dst[j*ldd+i] = v
		}
	}
}
