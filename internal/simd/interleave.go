package simd

// Interleave copies values of rows, lds values apart, in turn: dst[j*rows+i] = src[i*lds+j] for all of dst, whose end may be one of the first rows.
func Interleave(dst, src []float32, lds, rows int) {
	n := len(dst) / rows
	switch l := active; {
	case rows == 1:
		copy(dst, src)
	case rows == 2 && l.width > 0 && n >= l.width:
		_, _ = dst[2*n-1], src[lds+n-1]
		l.interleave2(&dst[0], &src[0], &src[lds], n/l.width*l.width)
		if n%l.width > 0 { // the last whole vector, again
			l.interleave2(&dst[2*(n-l.width)], &src[n-l.width], &src[lds+n-l.width], l.width)
		}
	default:
		Transpose(dst, src, rows, lds, rows, n)
	}
	for i := range len(dst) - n*rows {
		dst[n*rows+i] = src[i*lds+n]
	}
}
