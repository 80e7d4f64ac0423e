package simd

// elementwiseAVX512 calls the kernel of an operation. A switch keeps the calls direct,
// so that pointers to stack buffers do not escape.
func elementwiseAVX512(o op, d, x, y *float32, n int, s, t float32) {
	switch o {
	case opFill:
		fillAVX512(d, x, y, n, s, t)
	case opAdd:
		addAVX512(d, x, y, n, s, t)
	case opSub:
		subAVX512(d, x, y, n, s, t)
	case opMul:
		mulAVX512(d, x, y, n, s, t)
	case opDiv:
		divAVX512(d, x, y, n, s, t)
	case opAddScalar:
		addScalarAVX512(d, x, y, n, s, t)
	case opScale:
		scaleAVX512(d, x, y, n, s, t)
	case opAxpy:
		axpyAVX512(d, x, y, n, s, t)
	case opAxpby:
		axpbyAVX512(d, x, y, n, s, t)
	case opMulAdd:
		mulAddAVX512(d, x, y, n, s, t)
	case opSquare:
		squareAVX512(d, x, y, n, s, t)
	case opSqrt:
		sqrtAVX512(d, x, y, n, s, t)
	case opAbs:
		absAVX512(d, x, y, n, s, t)
	case opAffine:
		affineAVX512(d, x, y, n, s, t)
	case opReLU:
		reluAVX512(d, x, y, n, s, t)
	case opReLUGrad:
		reluGradAVX512(d, x, y, n, s, t)
	case opMax:
		maxAVX512(d, x, y, n, s, t)
	case opMin:
		minAVX512(d, x, y, n, s, t)
	case opMulSign:
		mulSignAVX512(d, x, y, n, s, t)
	case opClamp:
		clampAVX512(d, x, y, n, s, t)
	case opClampGrad:
		clampGradAVX512(d, x, y, n, s, t)
	case opAbove:
		aboveAVX512(d, x, y, n, s, t)
	case opELUSlope:
		eluSlopeAVX512(d, x, y, n, s, t)
	case opSigmoidGrad:
		sigmoidGradAVX512(d, x, y, n, s, t)
	case opTanhGrad:
		tanhGradAVX512(d, x, y, n, s, t)
	case opPReLU:
		preluAVX512(d, x, y, n, s, t)
	case opPReLUGrad:
		preluGradAVX512(d, x, y, n, s, t)
	case opTake:
		takeAVX512(d, x, y, n, s, t)
	case opLarger:
		largerAVX512(d, x, y, n, s, t)
	case opWhere:
		whereAVX512(d, x, y, n, s, t)
	case opExp:
		expAVX512(d, x, y, n, s, t)
	case opLog:
		logAVX512(d, x, y, n, s, t)
	case opSigmoid:
		sigmoidAVX512(d, x, y, n, s, t)
	case opTanh:
		tanhAVX512(d, x, y, n, s, t)
	case opPow25:
		pow25AVX512(d, x, y, n, s, t)
	case opPow75:
		pow75AVX512(d, x, y, n, s, t)
	case opMulInvPow75:
		mulInvPow75AVX512(d, x, y, n, s, t)
	case opInverse:
		inverseAVX512(d, x, y, n, s, t)
	case opPow:
		powAVX512(d, x, y, n, s, t)
	}
}

// reduceAVX512 calls the kernel of a reduction.
func reduceAVX512(f fold, out *float64, x, y *float32, n int) {
	switch f {
	case foldSum:
		sumAVX512(out, x, y, n)
	case foldDot:
		dotAVX512(out, x, y, n)
	case foldSumSq:
		sumSqAVX512(out, x, y, n)
	case foldAbsSum:
		absSumAVX512(out, x, y, n)
	}
}

// elementwiseAVX2 calls the kernel of an operation. A switch keeps the calls direct,
// so that pointers to stack buffers do not escape.
func elementwiseAVX2(o op, d, x, y *float32, n int, s, t float32) {
	switch o {
	case opFill:
		fillAVX2(d, x, y, n, s, t)
	case opAdd:
		addAVX2(d, x, y, n, s, t)
	case opSub:
		subAVX2(d, x, y, n, s, t)
	case opMul:
		mulAVX2(d, x, y, n, s, t)
	case opDiv:
		divAVX2(d, x, y, n, s, t)
	case opAddScalar:
		addScalarAVX2(d, x, y, n, s, t)
	case opScale:
		scaleAVX2(d, x, y, n, s, t)
	case opAxpy:
		axpyAVX2(d, x, y, n, s, t)
	case opAxpby:
		axpbyAVX2(d, x, y, n, s, t)
	case opMulAdd:
		mulAddAVX2(d, x, y, n, s, t)
	case opSquare:
		squareAVX2(d, x, y, n, s, t)
	case opSqrt:
		sqrtAVX2(d, x, y, n, s, t)
	case opAbs:
		absAVX2(d, x, y, n, s, t)
	case opAffine:
		affineAVX2(d, x, y, n, s, t)
	case opReLU:
		reluAVX2(d, x, y, n, s, t)
	case opReLUGrad:
		reluGradAVX2(d, x, y, n, s, t)
	case opMax:
		maxAVX2(d, x, y, n, s, t)
	case opMin:
		minAVX2(d, x, y, n, s, t)
	case opMulSign:
		mulSignAVX2(d, x, y, n, s, t)
	case opClamp:
		clampAVX2(d, x, y, n, s, t)
	case opClampGrad:
		clampGradAVX2(d, x, y, n, s, t)
	case opAbove:
		aboveAVX2(d, x, y, n, s, t)
	case opELUSlope:
		eluSlopeAVX2(d, x, y, n, s, t)
	case opSigmoidGrad:
		sigmoidGradAVX2(d, x, y, n, s, t)
	case opTanhGrad:
		tanhGradAVX2(d, x, y, n, s, t)
	case opPReLU:
		preluAVX2(d, x, y, n, s, t)
	case opPReLUGrad:
		preluGradAVX2(d, x, y, n, s, t)
	case opTake:
		takeAVX2(d, x, y, n, s, t)
	case opLarger:
		largerAVX2(d, x, y, n, s, t)
	case opWhere:
		whereAVX2(d, x, y, n, s, t)
	case opExp:
		expAVX2(d, x, y, n, s, t)
	case opLog:
		logAVX2(d, x, y, n, s, t)
	case opSigmoid:
		sigmoidAVX2(d, x, y, n, s, t)
	case opTanh:
		tanhAVX2(d, x, y, n, s, t)
	case opPow25:
		pow25AVX2(d, x, y, n, s, t)
	case opPow75:
		pow75AVX2(d, x, y, n, s, t)
	case opMulInvPow75:
		mulInvPow75AVX2(d, x, y, n, s, t)
	case opInverse:
		inverseAVX2(d, x, y, n, s, t)
	case opPow:
		powAVX2(d, x, y, n, s, t)
	}
}

// reduceAVX2 calls the kernel of a reduction.
func reduceAVX2(f fold, out *float64, x, y *float32, n int) {
	switch f {
	case foldSum:
		sumAVX2(out, x, y, n)
	case foldDot:
		dotAVX2(out, x, y, n)
	case foldSumSq:
		sumSqAVX2(out, x, y, n)
	case foldAbsSum:
		absSumAVX2(out, x, y, n)
	}
}

// elementwise calls the kernel of an operation at this level.
func (l *level) elementwise(o op, d, x, y *float32, n int, s, t float32) {
	if l.width == 16 {
		elementwiseAVX512(o, d, x, y, n, s, t)
	} else {
		elementwiseAVX2(o, d, x, y, n, s, t)
	}
}

// reduce calls the kernel of a reduction at this level.
func (l *level) reduce(f fold, out *float64, x, y *float32, n int) {
	if l.width == 16 {
		reduceAVX512(f, out, x, y, n)
	} else {
		reduceAVX2(f, out, x, y, n)
	}
}

// maxLanes stores the lane maxima of n elements.
func (l *level) maxLanes(out, x *float32, n int) {
	if l.width == 16 {
		maxOfAVX512(out, x, n)
	} else {
		maxOfAVX2(out, x, n)
	}
}

// panelLines packs a panel of A of AVX-512's micro kernel.
func (l *level) panelLines(dst, src *float32, ld, rows, k int) {
	packPanel12AVX512(dst, src, ld, rows, k, &maskWords[16])
}

// panelA packs a full panel of A of six rows, k a multiple of four.
func (l *level) panelA(dst, src *float32, ld, k int) {
	if l.width == 16 {
		packA6AVX512(dst, src, ld, k)
	} else {
		packA6AVX2(dst, src, ld, k)
	}
}

// panelB packs whole panels of B.
func (l *level) panelB(dst, src *float32, ld, k, panels int) {
	if l.width == 16 {
		packBAVX512(dst, src, ld, k, panels)
	} else {
		packBAVX2(dst, src, ld, k, panels)
	}
}

// copyRows copies rows of n values.
func (l *level) copyRows(dst, src *float32, ldd, lds, rows, n int, words *int32) {
	if l.width == 16 {
		copyRowsAVX512(dst, src, ldd, lds, rows, n, words)
	} else {
		copyRowsAVX2(dst, src, ldd, lds, rows, n, words)
	}
}

// gatherRows copies rows of n values from anywhere.
func (l *level) gatherRows(dst, src *float32, ldd int, offs *int, rows, n int, words *int32) {
	if l.width == 16 {
		gatherRowsAVX512(dst, src, ldd, offs, rows, n, words)
	} else {
		gatherRowsAVX2(dst, src, ldd, offs, rows, n, words)
	}
}

// scattered calls the micro kernel of this level whose B is not packed, for n vectors.
func (l *level) scattered(k int, a, b *float32, offs *int, c *float32, ldc int, v *int, n int, words *int32, accumulate bool) {
	switch {
	case l.width == 16 && n > 2:
		scattered6x4AVX512(k, a, b, offs, c, ldc, v, words, accumulate)
	case l.width == 16:
		scattered6x2AVX512(k, a, b, offs, c, ldc, v, words, accumulate)
	case n > 1:
		scattered6x2AVX2(k, a, b, offs, c, ldc, v, words, accumulate)
	default:
		scattered6x1AVX2(k, a, b, offs, c, ldc, v, words, accumulate)
	}
}

// transpose turns four rows of n values, n a multiple of four.
func (l *level) transpose(dst, src *float32, ldd, lds, n int) {
	if l.width == 16 {
		transposeAVX512(dst, src, ldd, lds, n)
	} else {
		transposeAVX2(dst, src, ldd, lds, n)
	}
}

// turn transposes a block of up to 16 rows and columns.
func (l *level) turn(dst, src *float32, ldd, lds, rows, cols int) {
	turnAVX512(dst, src, ldd, lds, rows, cols, &maskWords[16])
}

// maxPool takes the maxima of n windows, at most a vector of them, 1 or 2 inputs apart.
func (l *level) maxPool(dst *float32, mask *int32, index, w int, src *float32, kh, kw, ld, stride, n int, words *int32) {
	switch {
	case l.width == 16 && stride == 1:
		maxPool1AVX512(dst, mask, index, w, src, kh, kw, ld, n, words)
	case l.width == 16:
		maxPool2AVX512(dst, mask, index, w, src, kh, kw, ld, n, words)
	case stride == 1:
		maxPool1AVX2(dst, mask, index, w, src, kh, kw, ld, n, words)
	default:
		maxPool2AVX2(dst, mask, index, w, src, kh, kw, ld, n, words)
	}
}

// avePool takes the means of n windows, at most a vector of them, 1 or 2 inputs apart.
func (l *level) avePool(dst *float32, divisor float32, src *float32, kh, kw, ld, stride, n int, words *int32) {
	switch {
	case l.width == 16 && stride == 1:
		avePool1AVX512(dst, divisor, src, kh, kw, ld, n, words)
	case l.width == 16:
		avePool2AVX512(dst, divisor, src, kh, kw, ld, n, words)
	case stride == 1:
		avePool1AVX2(dst, divisor, src, kh, kw, ld, n, words)
	default:
		avePool2AVX2(dst, divisor, src, kh, kw, ld, n, words)
	}
}
