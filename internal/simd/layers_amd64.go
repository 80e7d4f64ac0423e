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

func (l *level) blockMoments(out *[2 * BlockLanes]float64, x *float32, n int, pivot *float32) {
	if l.width == 16 {
		blockMomentsAVX512(&out[0], x, n, pivot)
		return
	}
	blockMomentsAVX2(&out[0], x, n, pivot)
}

func (l *level) blockNormalise(y, x *float32, n int, p *BlockNormal) {
	if l.width == 16 {
		blockNormaliseAVX512(y, x, n, &p.Mean[0], &p.Scale[0], &p.Gamma[0], &p.Beta[0], &p.Slope)
		return
	}
	blockNormaliseAVX2(y, x, n, &p.Mean[0], &p.Scale[0], &p.Gamma[0], &p.Beta[0], &p.Slope)
}

func (l *level) blockNormaliseSums(out *[2 * BlockLanes]float64, dy, x *float32, n int, p *BlockNormal) {
	if l.width == 16 {
		blockNormaliseSumsAVX512(&out[0], dy, x, n, &p.Mean[0], &p.Scale[0], &p.Gamma[0], &p.Beta[0], &p.Slope)
		return
	}
	blockNormaliseSumsAVX2(&out[0], dy, x, n, &p.Mean[0], &p.Scale[0], &p.Gamma[0], &p.Beta[0], &p.Slope)
}

func (l *level) blockNormaliseAdd(y *float32, signs *uint16, x, other *float32, n int, p *BlockNormal) {
	if l.width == 16 {
		blockNormaliseAddAVX512(y, signs, x, other, n, &p.Mean[0], &p.Scale[0], &p.Gamma[0], &p.Beta[0], &p.Slope)
		return
	}
	blockNormaliseAddAVX2(y, signs, x, other, n, &p.Mean[0], &p.Scale[0], &p.Gamma[0], &p.Beta[0], &p.Slope)
}

func (l *level) blockMaskSums(out *[2 * BlockLanes]float64, g, dy *float32, signs *uint16, x *float32, n int, p *BlockNormal) {
	if l.width == 16 {
		blockMaskSumsAVX512(&out[0], g, dy, signs, x, n, &p.Mean[0], &p.Scale[0], &p.Slope)
		return
	}
	blockMaskSumsAVX2(&out[0], g, dy, signs, x, n, &p.Mean[0], &p.Scale[0], &p.Slope)
}

func (l *level) blockNormaliseGrad(dx, dy, x *float32, n int, p *BlockNormal) {
	if l.width == 16 {
		blockNormaliseGradAVX512(dx, dy, x, n, &p.Mean[0], &p.Scale[0], &p.Gamma[0], &p.Beta[0], &p.Slope, &p.A[0], &p.B[0], &p.C[0])
		return
	}
	blockNormaliseGradAVX2(dx, dy, x, n, &p.Mean[0], &p.Scale[0], &p.Gamma[0], &p.Beta[0], &p.Slope, &p.A[0], &p.B[0], &p.C[0])
}

func (l *level) nearSquares(size int, d, below, x, above *float32, n int, scale, shift float32) {
	switch {
	case l.width == 16 && size == 3:
		nearSquares3AVX512(d, below, x, above, n, scale, shift)
	case l.width == 16:
		nearSquares5AVX512(d, below, x, above, n, scale, shift)
	case size == 3:
		nearSquares3AVX2(d, below, x, above, n, scale, shift)
	default:
		nearSquares5AVX2(d, below, x, above, n, scale, shift)
	}
}

func (l *level) mulAddNear(size int, d, a, below, x, above *float32, n int, scale float32) {
	switch {
	case l.width == 16 && size == 3:
		mulAddNear3AVX512(d, a, below, x, above, n, scale)
	case l.width == 16:
		mulAddNear5AVX512(d, a, below, x, above, n, scale)
	case size == 3:
		mulAddNear3AVX2(d, a, below, x, above, n, scale)
	default:
		mulAddNear5AVX2(d, a, below, x, above, n, scale)
	}
}

func (l *level) columnSums(sums *float64, x, y *float32, n int) {
	if l.width == 16 {
		columnSumsAVX512(sums, x, y, n)
		return
	}
	columnSumsAVX2(sums, x, y, n)
}

func (l *level) columnProducts(sums *float64, x, y *float32, n int) {
	if l.width == 16 {
		columnProductsAVX512(sums, x, y, n)
		return
	}
	columnProductsAVX2(sums, x, y, n)
}

func (l *level) columnSquares(sums *float64, x, y *float32, n int) {
	if l.width == 16 {
		columnSquaresAVX512(sums, x, y, n)
		return
	}
	columnSquaresAVX2(sums, x, y, n)
}
