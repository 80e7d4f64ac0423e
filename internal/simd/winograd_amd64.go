package simd

// strided calls the micro kernel of this level whose operands are not packed.
func (l *level) strided(k int, a *float32, row, col int, b *float32, ldb int, c *float32, ldc int, accumulate bool) {
	if l.width == 16 {
		stridedAVX512(k, a, row, col, b, ldb, c, ldc, accumulate)
	} else {
		stridedAVX2(k, a, row, col, b, ldb, c, ldc, accumulate)
	}
}

// winograd maps n squares of a vector's width.
func (l *level) winograd(m int, kind WinogradMap, dst, src, tmp, bias *float32, strides *int, n int) {
	switch {
	case l.width == 16 && m == 4:
		winograd4AVX512(kind, dst, src, tmp, bias, strides, n)
	case l.width == 16:
		winograd2AVX512(kind, dst, src, tmp, bias, strides, n)
	case m == 4:
		winograd4AVX2(kind, dst, src, tmp, bias, strides, n)
	default:
		winograd2AVX2(kind, dst, src, tmp, bias, strides, n)
	}
}

func winograd4AVX512(kind WinogradMap, dst, src, tmp, bias *float32, strides *int, n int) {
	switch kind {
	case WinogradInput:
		winogradInput4AVX512(dst, src, tmp, bias, strides, n)
	case WinogradOutput:
		winogradOutput4AVX512(dst, src, tmp, bias, strides, n)
	case WinogradWeights:
		winogradWeights4AVX512(dst, src, tmp, bias, strides, n)
	case WinogradOutputGrad:
		winogradOutputGrad4AVX512(dst, src, tmp, bias, strides, n)
	case WinogradWeightsGrad:
		winogradWeightsGrad4AVX512(dst, src, tmp, bias, strides, n)
	}
}

func winograd2AVX512(kind WinogradMap, dst, src, tmp, bias *float32, strides *int, n int) {
	switch kind {
	case WinogradInput:
		winogradInput2AVX512(dst, src, tmp, bias, strides, n)
	case WinogradOutput:
		winogradOutput2AVX512(dst, src, tmp, bias, strides, n)
	case WinogradWeights:
		winogradWeights2AVX512(dst, src, tmp, bias, strides, n)
	case WinogradOutputGrad:
		winogradOutputGrad2AVX512(dst, src, tmp, bias, strides, n)
	case WinogradWeightsGrad:
		winogradWeightsGrad2AVX512(dst, src, tmp, bias, strides, n)
	}
}

func winograd4AVX2(kind WinogradMap, dst, src, tmp, bias *float32, strides *int, n int) {
	switch kind {
	case WinogradInput:
		winogradInput4AVX2(dst, src, tmp, bias, strides, n)
	case WinogradOutput:
		winogradOutput4AVX2(dst, src, tmp, bias, strides, n)
	case WinogradWeights:
		winogradWeights4AVX2(dst, src, tmp, bias, strides, n)
	case WinogradOutputGrad:
		winogradOutputGrad4AVX2(dst, src, tmp, bias, strides, n)
	case WinogradWeightsGrad:
		winogradWeightsGrad4AVX2(dst, src, tmp, bias, strides, n)
	}
}

func winograd2AVX2(kind WinogradMap, dst, src, tmp, bias *float32, strides *int, n int) {
	switch kind {
	case WinogradInput:
		winogradInput2AVX2(dst, src, tmp, bias, strides, n)
	case WinogradOutput:
		winogradOutput2AVX2(dst, src, tmp, bias, strides, n)
	case WinogradWeights:
		winogradWeights2AVX2(dst, src, tmp, bias, strides, n)
	case WinogradOutputGrad:
		winogradOutputGrad2AVX2(dst, src, tmp, bias, strides, n)
	case WinogradWeightsGrad:
		winogradWeightsGrad2AVX2(dst, src, tmp, bias, strides, n)
	}
}
