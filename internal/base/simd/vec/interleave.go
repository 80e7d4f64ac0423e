package vec

import "github.com/swcaffe/swcaffe/internal/base/simd/isa"

// Interleave copies values of rows in turn: dst[j*rows+i] = src[i*lds+j]. Rows are lds values apart. It fills dst, whose end may leave out
// some rows' last value.
func Interleave(dst, src []float32, lds, rows int) {
	n, width := len(dst)/rows, isa.Lanes()
	switch {
	case rows == 1:
		copy(dst, src)
	case rows == 2 && have.Interleave2 != none && n >= width:
		_, _ = dst[2*n-1], src[lds+n-1]
		have.Interleave2.run(&dst[0], &src[0], &src[lds], n/width*width)
		if n%width > 0 { // the last whole vector, again
			have.Interleave2.run(&dst[2*(n-width)], &src[n-width], &src[lds+n-width], width)
		}
	default:
		Transpose(dst, src, rows, lds, rows, n)
	}
	for i := range len(dst) - n*rows {
		dst[n*rows+i] = src[i*lds+n]
	}
}
