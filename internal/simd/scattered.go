package simd

// Vector is where one vector of the tile of a ScatteredKernel lies: From values into B, To values into C. Its first N lanes
// are stored.
type Vector struct{ From, To, N int }

// maskWords ends the mask of n lanes that begins n words before its middle.
var maskWords = [32]int32{-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}

// Scattered returns the tile of ScatteredKernel: rows, the largest number of vectors, and their lanes.
func Scattered() (rows, vectors, lanes int) { return active.rows, active.vectors, active.nr / 2 }

// ScatteredKernel is a micro kernel whose B is not packed: row p of B is a vector at b[v.From+offs[p]:] for each of the first n
// vectors. It sets the vectors at c[v.To:] of every row of C, which are ldc apart, or adds to them:
// C[i][j] (+)= Σp a[p*rows+i]*b[offs[p]+j] over p < len(offs). All lanes of B are read, stored or not. The vectors from n
// on are overwritten.
func ScatteredKernel(a, b []float32, offs []int, c []float32, ldc int, v *[4]Vector, n int, accumulate bool) {
	l, k := active, len(offs)
	if n > l.vectors {
		panic("simd: more vectors than the tile has")
	}
	if l.width == 0 || k == 0 {
		scatteredGo(a, b, offs, c, ldc, v[:n], accumulate)
		return
	}
	_ = a[k*l.rows-1]
	for j := n; j < l.vectors; j++ {
		v[j] = Vector{From: v[0].From, To: v[0].To}
	}
	l.scattered(k, &a[0], &b[0], &offs[0], &c[0], ldc, &v[0].From, n, &maskWords[16], accumulate)
}

func scatteredGo(a, b []float32, offs []int, c []float32, ldc int, vectors []Vector, accumulate bool) {
	rows := active.rows
	for i := range rows {
		for _, v := range vectors {
			var t [16]float32
			for p, at := range offs {
				x := a[p*rows+i]
				for j, y := range b[v.From+at:][:v.N] {
					t[j] += x * y
				}
			}
			to := c[i*ldc+v.To:][:v.N]
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

// turns reports whether a block is transposed in whole registers: one that does not leave most of them empty.
func (l *level) turns(rows, cols int) bool { return l.width == 16 && rows > 4 && cols >= 4 }

// Transpose sets dst[j*ldd+i] = src[i*lds+j] for rows i and columns j.
func Transpose(dst, src []float32, ldd, lds, rows, cols int) {
	if rows == 0 || cols == 0 {
		return
	}
	_, _ = dst[(cols-1)*ldd+rows-1], src[(rows-1)*lds+cols-1]
	if l := active; l.turns(rows, cols) {
		for i := 0; i < rows; i += l.width {
			for j := 0; j < cols; j += l.width {
				l.turn(&dst[j*ldd+i], &src[i*lds+j], ldd, lds, min(l.width, rows-i), min(l.width, cols-j))
			}
		}
		return
	}
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
