package simd

// tile calls the micro kernel of thirds of the level's rows.
func (l *level) tile(thirds, k int, a, b, c *float32, ldc int, accumulate bool, m, n int) {
	wide, words := n > l.width, &maskWords[16]
	switch {
	case l.width == 16 && thirds == 3 && wide:
		micro12x2AVX512(k, a, b, c, ldc, accumulate, m, n, words)
	case l.width == 16 && thirds == 3:
		micro12x1AVX512(k, a, b, c, ldc, accumulate, m, n, words)
	case l.width == 16 && thirds == 2 && wide:
		micro8x2AVX512(k, a, b, c, ldc, accumulate, m, n, words)
	case l.width == 16 && thirds == 2:
		micro8x1AVX512(k, a, b, c, ldc, accumulate, m, n, words)
	case l.width == 16 && wide:
		micro4x2AVX512(k, a, b, c, ldc, accumulate, m, n, words)
	case l.width == 16:
		micro4x1AVX512(k, a, b, c, ldc, accumulate, m, n, words)
	case thirds == 3 && wide:
		micro6x2AVX2(k, a, b, c, ldc, accumulate, m, n, words)
	case thirds == 3:
		micro6x1AVX2(k, a, b, c, ldc, accumulate, m, n, words)
	case thirds == 2 && wide:
		micro4x2AVX2(k, a, b, c, ldc, accumulate, m, n, words)
	case thirds == 2:
		micro4x1AVX2(k, a, b, c, ldc, accumulate, m, n, words)
	case wide:
		micro2x2AVX2(k, a, b, c, ldc, accumulate, m, n, words)
	default:
		micro2x1AVX2(k, a, b, c, ldc, accumulate, m, n, words)
	}
}

// strided calls the micro kernel of thirds of the level's rows whose operands are not packed.
func (l *level) strided(thirds, k int, a *float32, row, col int, b *float32, ldb int, c *float32, ldc int, accumulate bool, m, n int) {
	wide, words := n > l.width, &maskWords[16]
	switch {
	case l.width == 16 && thirds == 3 && wide:
		strided12x2AVX512(k, a, row, col, b, ldb, c, ldc, accumulate, m, n, words)
	case l.width == 16 && thirds == 3:
		strided12x1AVX512(k, a, row, col, b, ldb, c, ldc, accumulate, m, n, words)
	case l.width == 16 && thirds == 2 && wide:
		strided8x2AVX512(k, a, row, col, b, ldb, c, ldc, accumulate, m, n, words)
	case l.width == 16 && thirds == 2:
		strided8x1AVX512(k, a, row, col, b, ldb, c, ldc, accumulate, m, n, words)
	case l.width == 16 && wide:
		strided4x2AVX512(k, a, row, col, b, ldb, c, ldc, accumulate, m, n, words)
	case l.width == 16:
		strided4x1AVX512(k, a, row, col, b, ldb, c, ldc, accumulate, m, n, words)
	case thirds == 3 && wide:
		strided6x2AVX2(k, a, row, col, b, ldb, c, ldc, accumulate, m, n, words)
	case thirds == 3:
		strided6x1AVX2(k, a, row, col, b, ldb, c, ldc, accumulate, m, n, words)
	case thirds == 2 && wide:
		strided4x2AVX2(k, a, row, col, b, ldb, c, ldc, accumulate, m, n, words)
	case thirds == 2:
		strided4x1AVX2(k, a, row, col, b, ldb, c, ldc, accumulate, m, n, words)
	case wide:
		strided2x2AVX2(k, a, row, col, b, ldb, c, ldc, accumulate, m, n, words)
	default:
		strided2x1AVX2(k, a, row, col, b, ldb, c, ldc, accumulate, m, n, words)
	}
}
