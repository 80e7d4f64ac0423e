package simd

// BlockLanes is how many channels lie side by side where images lie in blocks of channels.
const BlockLanes = 16

// pixelPanel is how many columns the panels of PixelKernel's B have: two blocks.
const pixelPanel = 2 * BlockLanes

// PixelRows is the number of pixels of PixelKernel's tiles at most.
func PixelRows() int {
	switch active.width {
	case 16:
		return len(pixelsAVX512[0])
	case 8:
		return len(pixelsAVX2)
	}
	return active.mr
}

// PixelKernel is the micro kernel of pointwise convolutions of images in blocks of channels: for some pixels i, in tiles one behind
// another, and the first n blocks of 16 of a panel of 32 columns j
//
//	C[i][j] (+)= start[j] + Σp A[i][p]*b[p*32+j], p < 16*blocks
//
// where A[i][p] is a[p/16*jumpA+i*16+p%16] and C[i][j] is c[j/16*jumpC+i*16+j%16]. C is not read unless accumulate is set, and becomes 0 where it
// would be below if floor is; NaN stays.
func PixelKernel(blocks int, a []float32, jumpA int, b, start, c []float32, jumpC, rows, n int, accumulate, floor bool) {
	const lanes = BlockLanes
	_, _ = a[(blocks-1)*jumpA+rows*lanes-1], b[(blocks*lanes-1)*pixelPanel+n*lanes-1]
	_, _ = start[n*lanes-1], c[(n-1)*jumpC+rows*lanes-1]
	if active.width == 0 {
		for j := range n {
			for i := range rows {
				pixelGo(blocks, a[i*lanes:], jumpA, b[j*lanes:], start[j*lanes:], c[j*jumpC+i*lanes:], accumulate, floor)
			}
		}
		return
	}
	// Tiles are as many pixels as others, or one less.
	tiles := quotient(rows+PixelRows()-1, PixelRows())
	each := quotient(rows, tiles)
	more := rows - tiles*each
	if more > 0 {
		pixelTiles(blocks, a, jumpA, b, start, c, jumpC, each+1, n, accumulate, floor, more)
	}
	done := more * (each + 1) * lanes
	pixelTiles(blocks, a[done:], jumpA, b, start, c[done:], jumpC, each, n, accumulate, floor, tiles-more)
}

// quotient is a/b of numbers of pixels: a division of 64 bits takes as long as some tiles.
func quotient(a, b int) int { return int(uint32(a) / uint32(b)) }

// pixelTiles does tiles of as many pixels.
func pixelTiles(blocks int, a []float32, jumpA int, b, start, c []float32, jumpC, rows, n int, accumulate, floor bool, tiles int) {
	if active.width == BlockLanes {
		pixelsAVX512[n-1][rows-1](blocks, &a[0], jumpA, &b[0], &start[0], &c[0], jumpC, accumulate, floor, tiles)
		return
	}
	for j := range n {
		at := j * BlockLanes
		pixelsAVX2[rows-1](blocks, &a[0], jumpA, &b[at], &start[at], &c[j*jumpC], BlockLanes/2, accumulate, floor, tiles)
	}
}

// pixelGo does a block of columns of one pixel.
func pixelGo(blocks int, a []float32, jumpA int, b, start, c []float32, accumulate, floor bool) {
	sums := [BlockLanes]float32(start)
	for block := range blocks {
		for p, x := range a[block*jumpA:][:BlockLanes] {
			for j, y := range b[(block*BlockLanes+p)*pixelPanel:][:BlockLanes] {
				sums[j] += x * y
			}
		}
	}
	for j, v := range sums {
		if accumulate {
			v += c[j]
		}
		if floor {
			v = max(v, 0)
		}
		c[j] = v
	}
}

// PixelSumSize is the number of rows of PixelSums' tiles, and of blocks of columns at most.
func PixelSumSize() (rows, blocks int) {
	if active.width == 16 {
		return 8, 3
	}
	return BlockLanes, 1
}

// PixelRuns are the pixels that PixelSums adds up: some runs of n pixels that lie side by side, in A NextA values from one to the next,
// in B NextB; blocks of channels of A are JumpA apart, those of B JumpB. Ahead, if there is one, is a block for each tile of rows that will
// be read later and is fetched meanwhile; they are JumpAhead apart, and their runs NextAhead.
type PixelRuns struct {
	Runs, N, NextA, NextB, JumpA, JumpB int
	Ahead                               []float32
	NextAhead, JumpAhead                int
}

// PixelSums is the micro kernel of the weight gradient of pointwise convolutions of images in blocks of channels, for rows
// first <= i < first+m, first being that of a tile, and n columns:
//
//	c[(i-first)*ldc+j] (+)= Σ A[p][i]*B[p][j] over pixels p
//
// where A[p][i] is a[i/16*JumpA+p*16+i%16] and B[p][j] is b[j/16*JumpB+p*16+j%16] for the pixels of the first run. C is not read unless
// accumulate is set.
func PixelSums(r *PixelRuns, a, b, c []float32, ldc, first, m, n int, accumulate bool) {
	const lanes = BlockLanes
	last, columns := (r.N-1)*lanes, (n+lanes-1)/lanes
	_ = b[(r.Runs-1)*r.NextB+(columns-1)*r.JumpB+last+lanes-1]
	_, _ = a[(r.Runs-1)*r.NextA+(first+m-1)/lanes*r.JumpA+last+lanes-1], c[(m-1)*ldc+n-1]
	if active.width > 0 {
		active.pixelSums(columns, r, a[first/lanes*r.JumpA+first%lanes:], &b[0], c, ldc, first%lanes > 0, accumulate, m, n)
		return
	}
	for i := 0; i < m; i += lanes - (first+i)%lanes {
		block, lane := (first+i)/lanes, (first+i)%lanes
		for run := range r.Runs {
			stridedGo(r.N, a[block*r.JumpA+run*r.NextA+lane:], 1, lanes, b[run*r.NextB:], lanes, c[i*ldc:], ldc, min(m-i, lanes-lane), n, accumulate || run > 0)
		}
	}
}
