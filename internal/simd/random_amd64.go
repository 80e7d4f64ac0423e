package simd

// drop calls the kernel of Drop; n is a multiple of the width, and state SplitMix64's of the first number.
func (l *level) drop(dst, src *float32, n int, state uint64, below uint32, scale float32) {
	if l.width == 16 {
		dropAVX512(dst, src, n, state, below, scale)
		return
	}
	dropAVX2(dst, src, n, state, below, scale)
}
