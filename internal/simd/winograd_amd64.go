package simd

// winogradFunc maps n squares of a vector's width.
type winogradFunc func(dst, src, tmp, bias *float32, strides *int, n int)

// The maps by form, in the order of winogradForms.
var winogradAVX512 = [...][winogradMaps]winogradFunc{
	{winogradInput2x3AVX512, winogradOutput2x3AVX512, winogradWeights2x3AVX512, winogradOutputGrad2x3AVX512, winogradWeightsGrad2x3AVX512, winogradInputGrad2x3AVX512},
	{winogradInput4x3AVX512, winogradOutput4x3AVX512, winogradWeights4x3AVX512, winogradOutputGrad4x3AVX512, winogradWeightsGrad4x3AVX512, winogradInputGrad4x3AVX512},
	{winogradInput4x5AVX512, winogradOutput4x5AVX512, winogradWeights4x5AVX512, winogradOutputGrad4x5AVX512, winogradWeightsGrad4x5AVX512, winogradInputGrad4x5AVX512},
	{winogradInput5x3AVX512, winogradOutput5x3AVX512, winogradWeights5x3AVX512, winogradOutputGrad5x3AVX512, winogradWeightsGrad5x3AVX512, winogradInputGrad5x3AVX512},
}

var winogradAVX2 = [...][winogradMaps]winogradFunc{
	{winogradInput2x3AVX2, winogradOutput2x3AVX2, winogradWeights2x3AVX2, winogradOutputGrad2x3AVX2, winogradWeightsGrad2x3AVX2, winogradInputGrad2x3AVX2},
	{winogradInput4x3AVX2, winogradOutput4x3AVX2, winogradWeights4x3AVX2, winogradOutputGrad4x3AVX2, winogradWeightsGrad4x3AVX2, winogradInputGrad4x3AVX2},
	{winogradInput4x5AVX2, winogradOutput4x5AVX2, winogradWeights4x5AVX2, winogradOutputGrad4x5AVX2, winogradWeightsGrad4x5AVX2, winogradInputGrad4x5AVX2},
	{winogradInput5x3AVX2, winogradOutput5x3AVX2, winogradWeights5x3AVX2, winogradOutputGrad5x3AVX2, winogradWeightsGrad5x3AVX2, winogradInputGrad5x3AVX2},
}

// winograd maps n squares of a vector's width.
func (l *level) winograd(form int, kind WinogradMap, dst, src, tmp, bias *float32, strides *int, n int) {
	if l.width == 16 {
		winogradAVX512[form][kind](dst, src, tmp, bias, strides, n)
	} else {
		winogradAVX2[form][kind](dst, src, tmp, bias, strides, n)
	}
}
