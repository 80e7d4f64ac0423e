package simd

// StridedPanel is a micro kernel whose operands are not packed: C[i][j] (+)= Σp a[i*row+p*col]*b[p*ldb+j] over p < k, for m rows,
// which may be those of many tiles one below another, and n columns, those of one tile at most. Either the values of A's rows lie side
// by side, or those of its columns: col or row is 1. Of A there are as many rows as StridedRows says of what is left behind the last
// whole tile, and B has whole vectors of columns. C is not read unless accumulate is set.
func StridedPanel(m, n, k int, a []float32, row, col int, b []float32, ldb int, c []float32, ldc int, accumulate bool) {
	l := active
	if m == 0 {
		return
	}
	if l.width == 0 || k == 0 {
		stridedGo(k, a, row, col, b, ldb, c, ldc, m, n, accumulate)
		return
	}
	whole := l.tiles(m)
	at := whole * l.mr
	rest, lanes := m-at, l.width
	if n > lanes {
		lanes *= 2
	}
	_, _, _ = a[(at+l.thirds(rest)*l.mr/3-1)*row+(k-1)*col], b[(k-1)*ldb+lanes-1], c[(m-1)*ldc+n-1]
	if whole > 0 {
		l.strided(3, k, &a[0], row, col, &b[0], ldb, &c[0], ldc, accumulate, whole, l.mr, n)
	}
	if rest > 0 {
		l.strided(l.thirds(rest), k, &a[at*row], row, col, &b[0], ldb, &c[at*ldc], ldc, accumulate, 1, rest, n)
	}
}

func (l *level) strided(thirds, k int, a *float32, row, col int, b *float32, ldb int, c *float32, ldc int, accumulate bool, tiles, m, n int) {
	switch {
	case col == 1:
		l.byRows(thirds, k, a, row, b, ldb, c, ldc, accumulate, tiles, m, n)
	case row == 1:
		l.byColumns(thirds, k, a, col, b, ldb, c, ldc, accumulate, tiles, m, n)
	default:
		panic("simd: neither the rows nor the columns of A lie side by side")
	}
}

// StridedRows is how many rows of A a strided kernel reads that stores m rows.
func StridedRows(m int) int {
	if l := active; l.width > 0 {
		whole := l.tiles(m) * l.mr
		return whole + l.thirds(m-whole)*l.mr/3
	}
	return m
}

// tiles is the number of whole tiles in m rows. Dividing 32 bits takes a third of the time.
func (l *level) tiles(m int) int { return int(uint32(m) / uint32(l.mr)) }

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
