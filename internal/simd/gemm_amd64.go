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

// byRows calls the micro kernel of thirds of the level's rows whose operands are not packed, values of a row of A lying side by side.
func (l *level) byRows(thirds, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, accumulate bool, tiles, m, n int) {
	wide, words := n > l.width, &maskWords[16]
	switch {
	case l.width == 16 && thirds == 3 && wide:
		rows12x2AVX512(k, a, lda, b, ldb, c, ldc, accumulate, tiles, m, n, words)
	case l.width == 16 && thirds == 3:
		rows12x1AVX512(k, a, lda, b, ldb, c, ldc, accumulate, tiles, m, n, words)
	case l.width == 16 && thirds == 2 && wide:
		rows8x2AVX512(k, a, lda, b, ldb, c, ldc, accumulate, tiles, m, n, words)
	case l.width == 16 && thirds == 2:
		rows8x1AVX512(k, a, lda, b, ldb, c, ldc, accumulate, tiles, m, n, words)
	case l.width == 16 && wide:
		rows4x2AVX512(k, a, lda, b, ldb, c, ldc, accumulate, tiles, m, n, words)
	case l.width == 16:
		rows4x1AVX512(k, a, lda, b, ldb, c, ldc, accumulate, tiles, m, n, words)
	case thirds == 3 && wide:
		rows6x2AVX2(k, a, lda, b, ldb, c, ldc, accumulate, tiles, m, n, words)
	case thirds == 3:
		rows6x1AVX2(k, a, lda, b, ldb, c, ldc, accumulate, tiles, m, n, words)
	case thirds == 2 && wide:
		rows4x2AVX2(k, a, lda, b, ldb, c, ldc, accumulate, tiles, m, n, words)
	case thirds == 2:
		rows4x1AVX2(k, a, lda, b, ldb, c, ldc, accumulate, tiles, m, n, words)
	case wide:
		rows2x2AVX2(k, a, lda, b, ldb, c, ldc, accumulate, tiles, m, n, words)
	default:
		rows2x1AVX2(k, a, lda, b, ldb, c, ldc, accumulate, tiles, m, n, words)
	}
}

// byColumns calls the one that has values of a column of A side by side.
func (l *level) byColumns(thirds, k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, accumulate bool, tiles, m, n int) {
	wide, words := n > l.width, &maskWords[16]
	switch {
	case l.width == 16 && thirds == 3 && wide:
		columns12x2AVX512(k, a, lda, b, ldb, c, ldc, accumulate, tiles, m, n, words)
	case l.width == 16 && thirds == 3:
		columns12x1AVX512(k, a, lda, b, ldb, c, ldc, accumulate, tiles, m, n, words)
	case l.width == 16 && thirds == 2 && wide:
		columns8x2AVX512(k, a, lda, b, ldb, c, ldc, accumulate, tiles, m, n, words)
	case l.width == 16 && thirds == 2:
		columns8x1AVX512(k, a, lda, b, ldb, c, ldc, accumulate, tiles, m, n, words)
	case l.width == 16 && wide:
		columns4x2AVX512(k, a, lda, b, ldb, c, ldc, accumulate, tiles, m, n, words)
	case l.width == 16:
		columns4x1AVX512(k, a, lda, b, ldb, c, ldc, accumulate, tiles, m, n, words)
	case thirds == 3 && wide:
		columns6x2AVX2(k, a, lda, b, ldb, c, ldc, accumulate, tiles, m, n, words)
	case thirds == 3:
		columns6x1AVX2(k, a, lda, b, ldb, c, ldc, accumulate, tiles, m, n, words)
	case thirds == 2 && wide:
		columns4x2AVX2(k, a, lda, b, ldb, c, ldc, accumulate, tiles, m, n, words)
	case thirds == 2:
		columns4x1AVX2(k, a, lda, b, ldb, c, ldc, accumulate, tiles, m, n, words)
	case wide:
		columns2x2AVX2(k, a, lda, b, ldb, c, ldc, accumulate, tiles, m, n, words)
	default:
		columns2x1AVX2(k, a, lda, b, ldb, c, ldc, accumulate, tiles, m, n, words)
	}
}
