package simd

// sumSquares adds up rows' squares at this level.
func (l *level) sumSquares(d, x *float32, ld, rows, n int, scale, shift float32, words *int32) {
	if l.width == 16 {
		sumSquaresAVX512(d, x, ld, rows, n, scale, shift, words)
	} else {
		sumSquaresAVX2(d, x, ld, rows, n, scale, shift, words)
	}
}

// mulAddRows adds products with sums of rows at this level.
func (l *level) mulAddRows(d, a, x *float32, ld, rows, n int, scale float32, words *int32) {
	if l.width == 16 {
		mulAddRowsAVX512(d, a, x, ld, rows, n, scale, words)
	} else {
		mulAddRowsAVX2(d, a, x, ld, rows, n, scale, words)
	}
}

// sumShifted adds up runs at this level.
func (l *level) sumShifted(d, x *float32, offs *int, k, n int, words *int32) {
	if l.width == 16 {
		sumShiftedAVX512(d, x, offs, k, n, words)
	} else {
		sumShiftedAVX2(d, x, offs, k, n, words)
	}
}

// powRatio works out powers and ratios at this level.
func (l *level) powRatio(own, ratio, dy, y, s *float32, n int, words *int32) {
	if l.width == 16 {
		powRatioAVX512(own, ratio, dy, y, s, n, words)
	} else {
		powRatioAVX2(own, ratio, dy, y, s, n, words)
	}
}
