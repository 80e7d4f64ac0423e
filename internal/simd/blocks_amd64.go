package simd

// pixelsFunc is a micro kernel of PixelKernel for a number of pixels and vectors.
type pixelsFunc func(blocks int, a *float32, jumpA int, b, start, c *float32, jumpC int, accumulate, floor bool, tiles int)

// pixelsAVX512 are those of one and two blocks of columns, by pixels.
var pixelsAVX512 = [...][14]pixelsFunc{
	{
		pixels1x1AVX512, pixels2x1AVX512, pixels3x1AVX512, pixels4x1AVX512, pixels5x1AVX512,
		pixels6x1AVX512, pixels7x1AVX512, pixels8x1AVX512, pixels9x1AVX512, pixels10x1AVX512,
		pixels11x1AVX512, pixels12x1AVX512, pixels13x1AVX512, pixels14x1AVX512,
	},
	{
		pixels1x2AVX512, pixels2x2AVX512, pixels3x2AVX512, pixels4x2AVX512, pixels5x2AVX512,
		pixels6x2AVX512, pixels7x2AVX512, pixels8x2AVX512, pixels9x2AVX512, pixels10x2AVX512,
		pixels11x2AVX512, pixels12x2AVX512, pixels13x2AVX512, pixels14x2AVX512,
	},
}

// pixelsAVX2 are those of one block of columns, by pixels.
var pixelsAVX2 = [...]pixelsFunc{pixels1x2AVX2, pixels2x2AVX2, pixels3x2AVX2, pixels4x2AVX2, pixels5x2AVX2, pixels6x2AVX2}

// pixelSums calls the micro kernels of PixelSums: with AVX-512 one for some blocks of columns, with AVX2 three for the rows of a block.
// They begin a run where the one before ends.
func (l *level) pixelSums(columns int, r *PixelRuns, a []float32, b *float32, c []float32, ldc int, accumulate bool, m, n int) {
	words := &maskWords[16]
	nextA, nextB := r.NextA-r.N*BlockLanes, r.NextB-r.N*BlockLanes
	ahead, nextAhead := b, nextB
	if len(r.Ahead) > 0 {
		ahead, nextAhead = &r.Ahead[0], r.NextAhead-r.N*BlockLanes
	}
	switch {
	case l.width == 8:
		pixelSums6x2AVX2(r.Runs, r.N, &a[0], nextA, b, 8, nextB, ahead, nextAhead, &c[0], ldc, accumulate, min(6, m), n, words)
		for row := 6; row < m; row += 5 {
			pixelSums5x2AVX2(r.Runs, r.N, &a[row], nextA, b, 8, nextB, b, nextB, &c[row*ldc], ldc, accumulate, min(5, m-row), n, words)
		}
	case columns == 3:
		pixelSums8x3AVX512(r.Runs, r.N, &a[0], nextA, b, r.JumpB, nextB, ahead, nextAhead, &c[0], ldc, accumulate, m, n, words)
	case columns == 2:
		pixelSums8x2AVX512(r.Runs, r.N, &a[0], nextA, b, r.JumpB, nextB, ahead, nextAhead, &c[0], ldc, accumulate, m, n, words)
	default:
		pixelSums8x1AVX512(r.Runs, r.N, &a[0], nextA, b, r.JumpB, nextB, ahead, nextAhead, &c[0], ldc, accumulate, m, n, words)
	}
}
