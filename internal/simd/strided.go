package simd

// StridedKernel is a micro kernel whose operands are not packed: C[i][j] (+)= Σp a[i*row+p*col]*b[p*ldb+j] over p < k, for the
// mr x nr tile C of row stride ldc. Either the values of A's rows lie side by side, or those of its columns: col or row is 1. C is
// not read unless accumulate is set.
func StridedKernel(k int, a []float32, row, col int, b []float32, ldb int, c []float32, ldc int, accumulate bool) {
	l := active
	if l.width == 0 || k == 0 {
		stridedGo(k, a, row, col, b, ldb, c, ldc, l.mr, l.nr, accumulate)
		return
	}
	_, _, _ = a[(l.mr-1)*row+(k-1)*col], b[(k-1)*ldb+l.nr-1], c[(l.mr-1)*ldc+l.nr-1]
	l.strided(3, k, &a[0], row, col, &b[0], ldb, &c[0], ldc, accumulate, 1, &a[0], 0, l.mr, l.nr)
}

// fetchTurn is the number of steps in which a strided kernel fetches as many vectors.
const fetchTurn = 4

// StridedFetch is how many values of what comes next StridedPanel fetches.
func StridedFetch(m, k int) int {
	l := active
	return max(1, (m+l.mr-1)/l.mr*(k/fetchTurn)*fetchTurn*l.width)
}

// StridedPanel is StridedKernel for m rows, which may be those of many tiles one below another, and n columns, whole vectors of one
// tile. Of A there are as many rows as StridedRows says of what is left behind the last whole tile. Values from next on, if
// there are any, which will be worked on soon, are fetched on the way.
func StridedPanel(m, n, k int, a []float32, row, col int, b []float32, ldb int, c []float32, ldc int, accumulate bool, next []float32) {
	l := active
	if m == 0 {
		return
	}
	if l.width == 0 || k == 0 {
		stridedGo(k, a, row, col, b, ldb, c, ldc, m, n, accumulate)
		return
	}
	whole, rest := m/l.mr, m%l.mr
	at := whole * l.mr
	_, _, _ = a[(at+StridedRows(rest)-1)*row+(k-1)*col], b[(k-1)*ldb+n-1], c[(m-1)*ldc+n-1]
	if n%l.width != 0 {
		panic("simd: columns of a panel are no whole vectors")
	}
	ahead := 4 * fetchTurn * l.width
	if len(next) == 0 {
		next, ahead = a, 0
	}
	if whole > 0 {
		l.strided(3, k, &a[0], row, col, &b[0], ldb, &c[0], ldc, accumulate, whole, &next[0], ahead, l.mr, n)
	}
	if rest > 0 {
		if ahead > 0 {
			next = next[min(len(next)-1, whole*(k/fetchTurn)*fetchTurn*l.width):]
		}
		l.strided(l.thirds(rest), k, &a[at*row], row, col, &b[0], ldb, &c[at*ldc], ldc, accumulate, 1, &next[0], ahead, rest, n)
	}
}

// StridedEdge is StridedKernel for m rows, any number, and n columns of C, one tile's at most. Of A there are as many rows as StridedRows
// says; B has all columns of a tile.
func StridedEdge(k int, a []float32, row, col int, b []float32, ldb int, c []float32, ldc, m, n int, accumulate bool) {
	l := active
	if l.width == 0 || k == 0 {
		stridedGo(k, a, row, col, b, ldb, c, ldc, m, n, accumulate)
		return
	}
	_, _, _ = a[(StridedRows(m)-1)*row+(k-1)*col], b[(k-1)*ldb+l.nr-1], c[(m-1)*ldc+n-1]
	tiles, at := m/l.mr, m-m%l.mr
	if tiles > 0 {
		l.strided(3, k, &a[0], row, col, &b[0], ldb, &c[0], ldc, accumulate, tiles, &a[0], 0, l.mr, n)
	}
	if at < m {
		l.strided(l.thirds(m-at), k, &a[at*row], row, col, &b[0], ldb, &c[at*ldc], ldc, accumulate, 1, &a[0], 0, m-at, n)
	}
}

func (l *level) strided(thirds, k int, a *float32, row, col int, b *float32, ldb int, c *float32, ldc int, accumulate bool, tiles int, next *float32, ahead, m, n int) {
	switch {
	case col == 1:
		l.byRows(thirds, k, a, row, b, ldb, c, ldc, accumulate, tiles, next, ahead, m, n)
	case row == 1:
		l.byColumns(thirds, k, a, col, b, ldb, c, ldc, accumulate, tiles, next, ahead, m, n)
	default:
		panic("simd: neither the rows nor the columns of A lie side by side")
	}
}

// StridedRows is how many rows of A a strided kernel reads that stores m rows.
func StridedRows(m int) int {
	if l := active; l.width > 0 {
		whole := m - m%l.mr
		return whole + l.thirds(m-whole)*l.mr/3
	}
	return m
}

func stridedGo(k int, a []float32, row, col int, b []float32, ldb int, c []float32, ldc, m, n int, accumulate bool) {
	for i := range m {
		to := c[i*ldc : i*ldc+n]
		if !accumulate {
			clear(to)
		}
		for p := range k {
			x := a[i*row+p*col]
			for j, y := range b[p*ldb : p*ldb+len(to)] {
				to[j] += x * y
			}
		}
	}
}
