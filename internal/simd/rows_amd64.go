package simd

// rowSums adds up rows, or their squares, at this level.
func (l *level) rowSums(squares bool, d, x *float32, ld, rows, n int, scale, shift float32, words *int32) {
	switch {
	case l.width == 16 && squares:
		sumSquaresAVX512(d, x, ld, rows, n, scale, shift, words)
	case l.width == 16:
		sumRowsAVX512(d, x, ld, rows, n, scale, shift, words)
	case squares:
		sumSquaresAVX2(d, x, ld, rows, n, scale, shift, words)
	default:
		sumRowsAVX2(d, x, ld, rows, n, scale, shift, words)
	}
}
