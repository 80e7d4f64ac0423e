package simd

// every calls the kernel of this level for a stride of 2 or 4.
func (l *level) every(dst, src *float32, stride, n int) {
	switch {
	case l.width == 16 && stride == 2:
		every2AVX512(dst, src, n)
	case l.width == 16:
		every4AVX512(dst, src, n)
	case stride == 2:
		every2AVX2(dst, src, n)
	default:
		every4AVX2(dst, src, n)
	}
}

// interleave2 calls the kernel of this level.
func (l *level) interleave2(dst, a, b *float32, n int) {
	if l.width == 16 {
		interleave2AVX512(dst, a, b, n)
	} else {
		interleave2AVX2(dst, a, b, n)
	}
}
