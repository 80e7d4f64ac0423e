package simd

// dotRows multiplies one or two rows with one or four at this level.
func (l *level) dotRows(m, n int, sums, a *float32, lda int, b *float32, ldb, k int, words *int32) {
	if l.width == 16 {
		switch {
		case m == 1 && n == 1:
			dotRows1x1AVX512(sums, a, lda, b, ldb, k, words)
		case m == 1:
			dotRows1x4AVX512(sums, a, lda, b, ldb, k, words)
		case n == 1:
			dotRows2x1AVX512(sums, a, lda, b, ldb, k, words)
		default:
			dotRows2x4AVX512(sums, a, lda, b, ldb, k, words)
		}
		return
	}
	switch {
	case m == 1 && n == 1:
		dotRows1x1AVX2(sums, a, lda, b, ldb, k, words)
	case m == 1:
		dotRows1x4AVX2(sums, a, lda, b, ldb, k, words)
	case n == 1:
		dotRows2x1AVX2(sums, a, lda, b, ldb, k, words)
	default:
		dotRows2x4AVX2(sums, a, lda, b, ldb, k, words)
	}
}

// mixRows adds four rows to each of one or two at this level.
func (l *level) mixRows(m int, d *float32, ldd int, a *float32, lda int, b *float32, ldb, n int, words *int32) {
	switch {
	case l.width == 16 && m == 1:
		mixRows1AVX512(d, ldd, a, lda, b, ldb, n, words)
	case l.width == 16:
		mixRows2AVX512(d, ldd, a, lda, b, ldb, n, words)
	case m == 1:
		mixRows1AVX2(d, ldd, a, lda, b, ldb, n, words)
	default:
		mixRows2AVX2(d, ldd, a, lda, b, ldb, n, words)
	}
}

// outerRows multiplies one or two columns with as many rows at this level.
func (l *level) outerRows(m int, add bool, d *float32, ldd, rows int, a *float32, lda int, x *float32, ldx, n int, words *int32) {
	if l.width == 16 {
		switch {
		case m == 1 && add:
			addOuterRows1AVX512(d, ldd, rows, a, lda, x, ldx, n, words)
		case m == 1:
			outerRows1AVX512(d, ldd, rows, a, lda, x, ldx, n, words)
		case add:
			addOuterRows2AVX512(d, ldd, rows, a, lda, x, ldx, n, words)
		default:
			outerRows2AVX512(d, ldd, rows, a, lda, x, ldx, n, words)
		}
		return
	}
	switch {
	case m == 1 && add:
		addOuterRows1AVX2(d, ldd, rows, a, lda, x, ldx, n, words)
	case m == 1:
		outerRows1AVX2(d, ldd, rows, a, lda, x, ldx, n, words)
	case add:
		addOuterRows2AVX2(d, ldd, rows, a, lda, x, ldx, n, words)
	default:
		outerRows2AVX2(d, ldd, rows, a, lda, x, ldx, n, words)
	}
}
