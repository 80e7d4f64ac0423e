package simd

// The kernels of single layer types, on the level's vectors; n is a multiple of the width.

func (l *level) moments(out *[16]float64, x *float32, n int, pivot *float32) {
	if l.width == 16 {
		momentsAVX512(&out[0], x, n, pivot)
		return
	}
	momentsAVX2(&out[0], x, n, pivot)
}

func (l *level) normalise(y, x *float32, n int, p *float32) {
	if l.width == 16 {
		normaliseAVX512(y, x, n, p)
		return
	}
	normaliseAVX2(y, x, n, p)
}

func (l *level) normaliseSums(out *[16]float64, dy, x *float32, n int, p *float32) {
	if l.width == 16 {
		normaliseSumsAVX512(&out[0], dy, x, n, p)
		return
	}
	normaliseSumsAVX2(&out[0], dy, x, n, p)
}

func (l *level) normaliseGrad(dx, dy, x *float32, n int, p *float32) {
	if l.width == 16 {
		normaliseGradAVX512(dx, dy, x, n, p)
		return
	}
	normaliseGradAVX2(dx, dy, x, n, p)
}

func (l *level) lrn(y, x, window *float32, rows, ld, n int, p *[2]float32) {
	if l.width == 16 {
		lrnAVX512(y, x, window, rows, ld, n, &p[0])
		return
	}
	lrnAVX2(y, x, window, rows, ld, n, &p[0])
}

func (l *level) lrnRatio(q, r, dy, x, window *float32, rows, ld, n int, p *[2]float32) {
	if l.width == 16 {
		lrnRatioAVX512(q, r, dy, x, window, rows, ld, n, &p[0])
		return
	}
	lrnRatioAVX2(q, r, dy, x, window, rows, ld, n, &p[0])
}

func (l *level) lrnGrad(dx, x, window *float32, rows, ld, n int, p *float32) {
	if l.width == 16 {
		lrnGradAVX512(dx, x, window, rows, ld, n, p)
		return
	}
	lrnGradAVX2(dx, x, window, rows, ld, n, p)
}

func (l *level) larger(value *float32, code *int32, x *float32, from *int32, n int) {
	if l.width == 16 {
		largerAVX512(value, code, x, from, n)
		return
	}
	largerAVX2(value, code, x, from, n)
}

func (l *level) evens(dst, src *float32, n int) {
	if l.width == 16 {
		evensAVX512(dst, src, n)
		return
	}
	evensAVX2(dst, src, n)
}
