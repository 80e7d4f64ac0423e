package simd

// tapsFunc is a micro kernel of TapKernel for a number of pixels, tapSumsFunc one of TapSums for a number of offsets.
type (
	tapsFunc    func(tiles, k int, x *float32, apart int, offs *int, w, start, c *float32, to int, floor bool)
	tapSumsFunc func(rows, pixels int, x *float32, offs *int, step, nextX int, y *float32, nextY int, c *float32, accumulate bool)
)

var tapsAVX512 = [tapPixels]tapsFunc{
	taps1AVX512, taps2AVX512, taps3AVX512, taps4AVX512, taps5AVX512, taps6AVX512,
	taps7AVX512, taps8AVX512, taps9AVX512, taps10AVX512, taps11AVX512, taps12AVX512,
}

var tapsAVX2 = [tapPixels]tapsFunc{
	taps1AVX2, taps2AVX2, taps3AVX2, taps4AVX2, taps5AVX2, taps6AVX2,
	taps7AVX2, taps8AVX2, taps9AVX2, taps10AVX2, taps11AVX2, taps12AVX2,
}

var tapSumsAVX512 = [tapOffsets]tapSumsFunc{tapSums1AVX512, tapSums2AVX512, tapSums3AVX512, tapSums4AVX512, tapSums5AVX512}

var tapSumsAVX2 = [tapOffsets]tapSumsFunc{tapSums1AVX2, tapSums2AVX2, tapSums3AVX2, tapSums4AVX2, tapSums5AVX2}

// taps calls the micro kernel of some pixels of TapKernel for a vector of channels.
func (l *level) taps(pixels, tiles int, offs []int, x *float32, apart int, w, start, c *float32, to int, floor bool) {
	kernels := &tapsAVX512
	if l.width == 8 {
		kernels = &tapsAVX2
	}
	kernels[pixels-1](tiles, len(offs), x, apart, &offs[0], w, start, c, to, floor)
}

// tapSums calls the micro kernel of some offsets of TapSums for a vector of channels.
func (l *level) tapSums(r *TapRows, offs []int, x, y, c *float32, accumulate bool) {
	kernels := &tapSumsAVX512
	if l.width == 8 {
		kernels = &tapSumsAVX2
	}
	kernels[len(offs)-1](r.Rows, r.N, x, &offs[0], r.Step, r.NextX-r.N*r.Step, y, r.NextY-r.N*BlockLanes, c, accumulate)
}
