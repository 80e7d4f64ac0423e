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

// pixelSumsFunc is a micro kernel of PixelSums for a number of vectors.
type pixelSumsFunc func(runs, pixels int, a *float32, nextA, stepA, thenA int, b *float32, jumpB, nextB int, ahead *float32, nextAhead, jumpAhead int, c *float32, ldc int, accumulate bool, tiles, m, n int, words *int32)

// pixelSumsAVX512 are those of one to three blocks of columns.
var pixelSumsAVX512 = [...]pixelSumsFunc{pixelSums8x1AVX512, pixelSums8x2AVX512, pixelSums8x3AVX512}

// pixelSums calls the micro kernels of PixelSums: with AVX-512 one for some blocks of columns, of which a block has two tiles of rows, a
// being the second one's if odd is set; with AVX2 three for the rows of a block. They begin a run where the one before ends.
func (l *level) pixelSums(columns int, r *PixelRuns, a []float32, b *float32, c []float32, ldc int, odd, accumulate bool, m, n int) {
	words := &maskWords[16]
	nextA, nextB := r.NextA-r.N*BlockLanes, r.NextB-r.N*BlockLanes
	ahead, nextAhead, jumpAhead := b, nextB, 0
	if len(r.Ahead) > 0 {
		ahead, nextAhead, jumpAhead = &r.Ahead[0], r.NextAhead-r.N*BlockLanes, r.JumpAhead
	}
	if l.width == 8 {
		for row := 0; row < m; row += BlockLanes {
			a, c := a[row/BlockLanes*r.JumpA:], c[row*ldc:]
			if len(r.Ahead) > 0 {
				ahead = &r.Ahead[row/BlockLanes*r.JumpAhead]
			}
			pixelSums6x2AVX2(r.Runs, r.N, &a[0], nextA, 0, 0, b, 8, nextB, ahead, nextAhead, 0, &c[0], ldc, accumulate, 1, min(6, m-row), n, words)
			for i := 6; i < min(BlockLanes, m-row); i += 5 {
				pixelSums5x2AVX2(r.Runs, r.N, &a[i], nextA, 0, 0, b, 8, nextB, b, nextB, 0, &c[i*ldc], ldc, accumulate, 1, min(5, m-row-i), n, words)
			}
		}
		return
	}
	const rows = BlockLanes / 2
	step, then := rows, r.JumpA-rows
	if odd {
		step, then = then, step
	}
	kernel, whole := pixelSumsAVX512[columns-1], m/rows
	if whole > 0 {
		kernel(r.Runs, r.N, &a[0], nextA, step, then, b, r.JumpB, nextB, ahead, nextAhead, jumpAhead, &c[0], ldc, accumulate, whole, rows, n, words)
	}
	if rest := m % rows; rest > 0 {
		a, c := a[whole/2*r.JumpA+whole%2*step:], c[whole*rows*ldc:]
		kernel(r.Runs, r.N, &a[0], nextA, 0, 0, b, r.JumpB, nextB, b, nextB, 0, &c[0], ldc, accumulate, 1, rest, n, words)
	}
}
