package simd

// Every copies every stride-th value of src to dst.
func Every(dst, src []float32, stride int) {
	if stride == 1 {
		copy(dst, src)
		return
	}
	whole := 0
	if l := active; l.width > 0 && (stride == 2 || stride == 4) {
		if whole = min(len(dst), len(src)/stride) / l.width * l.width; whole > 0 {
			l.every(&dst[0], &src[0], stride, whole)
		}
	}
	for i := whole; i < len(dst); i++ {
		dst[i] = src[i*stride]
	}
}
