package simd

// DotTile is the most rows of b that DotRows takes, MixTile how many MixRows adds at a time.
const DotTile, MixTile = 4, 4

// DotRows sets sums[i*n+j] = Σp a[i*lda+p]*b[j*ldb+p] over p < k, for m rows of a, 1 or 2, and n of b, at most DotTile. Vectors are
// summed in float32, lane by lane, in an order that depends on k and m alone; without vectors it is float64.
func DotRows(sums, a []float32, lda, m int, b []float32, ldb, n, k int) {
	l := active
	if l.width == 0 || k == 0 || m*n == 0 {
		for i := range m {
			for j := range n {
				sums[i*n+j] = float32(Dot(a[i*lda:][:k], b[j*ldb:]))
			}
		}
		return
	}
	_, _, _ = sums[m*n-1], a[(m-1)*lda+k-1], b[(n-1)*ldb+k-1]
	if n == DotTile {
		l.dotRows(m, n, &sums[0], &a[0], lda, &b[0], ldb, k, &maskWords[16])
		return
	}
	var one [2]float32
	for j := range n {
		l.dotRows(m, 1, &one[0], &a[0], lda, &b[j*ldb], ldb, k, &maskWords[16])
		for i, sum := range one[:m] {
			sums[i*n+j] = sum
		}
	}
}

// MixRows adds Σr a[i*lda+r]*b[r*ldb+c] to d[i*ldd+c], over so many rows of b, for m rows of d, 1 or 2, and n columns. A column has the
// same bits whatever n is.
func MixRows(d []float32, ldd int, a []float32, lda, m int, b []float32, ldb, rows, n int) {
	l, r := active, 0
	if l.width > 0 && m*n > 0 && rows >= MixTile {
		_, _, _ = d[(m-1)*ldd+n-1], a[(m-1)*lda+rows-1], b[(rows-1)*ldb+n-1]
		for ; r+MixTile <= rows; r += MixTile {
			l.mixRows(m, &d[0], ldd, &a[r], lda, &b[r*ldb], ldb, n, &maskWords[16])
		}
	}
	for ; r < rows; r++ {
		for i := range m {
			l.addRow(d[i*ldd:][:n], b[r*ldb:][:n], a[i*lda+r])
		}
	}
}

// addRow is Axpy, with one rounding for a product and its sum on the levels whose kernels have one, however few values there are.
func (l *level) addRow(d, x []float32, a float32) {
	if l.width == 0 || len(d) >= l.width || len(d) == 0 {
		Axpy(d, x, a)
		return
	}
	var td, tx [16]float32
	copy(td[:], d)
	copy(tx[:], x)
	l.elementwise(opAxpy, &td[0], &tx[0], nil, l.width, a, 0)
	copy(d, td[:])
}

// OuterRows sets d[r*ldd+c] = Σi a[i*lda+r]*x[i*ldx+c] over m rows of x, 1 or 2, for so many rows of d and n columns, or adds that.
func OuterRows(d []float32, ldd, rows int, a []float32, lda int, x []float32, ldx, m, n int, add bool) {
	l := active
	if l.width > 0 && n > 0 && rows > 0 && m > 0 {
		_, _, _ = d[(rows-1)*ldd+n-1], a[(m-1)*lda+rows-1], x[(m-1)*ldx+n-1]
		l.outerRows(m, add, &d[0], ldd, rows, &a[0], lda, &x[0], ldx, n, &maskWords[16])
		return
	}
	for r := range rows {
		to := d[r*ldd:][:n]
		if !add {
			clear(to)
		}
		for i := range m {
			Axpy(to, x[i*ldx:], a[i*lda+r])
		}
	}
}
