package vconv

import (
	"github.com/swcaffe/swcaffe/internal/simd/isa"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
)

// pixelPanel is the number of columns of PixelKernel's panels of B: two blocks.
const pixelPanel = 2 * isa.BlockLanes

// PixelRows is the largest number of pixels of a tile of PixelKernel.
func PixelRows() int {
	switch isa.Width() {
	case 16:
		return 14
	case 8:
		return 6
	}
	return 4
}

// PixelKernel is the micro-kernel of pointwise convolutions of images in blocks of channels, for pixels i, in tiles one behind another, and the
// first n blocks of 16 of the 32 columns j of b:
//
//	C[i][j] (+)= start[j] + Σp A[i][p]*b[p*32+j], p < 16*blocks
//
// where A[i][p] is a[p/16*jumpA+i*16+p%16] and C[i][j] is c[j/16*jumpC+i*16+j%16]. C is not read unless accumulate is set. With floor,
// values below 0 become 0; NaN stays.
func PixelKernel(blocks int, a []float32, jumpA int, b, start, c []float32, jumpC, rows, n int, accumulate, floor bool) {
	const lanes = isa.BlockLanes
	_, _ = a[(blocks-1)*jumpA+rows*lanes-1], b[(blocks*lanes-1)*pixelPanel+n*lanes-1]
	_, _ = start[n*lanes-1], c[(n-1)*jumpC+rows*lanes-1]
	if isa.Width() == 0 {
		for j := range n {
			for i := range rows {
				pixelGo(blocks, a[i*lanes:], jumpA, b[j*lanes:], start[j*lanes:], c[j*jumpC+i*lanes:], accumulate, floor)
			}
		}
		return
	}
	// Tiles differ by one pixel at most.
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

// pixelTiles computes tiles of rows pixels each.
func pixelTiles(blocks int, a []float32, jumpA int, b, start, c []float32, jumpC, rows, n int, accumulate, floor bool, tiles int) {
	if isa.Width() == isa.BlockLanes {
		pixels(rows, n, blocks, &a[0], jumpA, &b[0], &start[0], &c[0], jumpC, accumulate, floor, tiles)
		return
	}
	for j := range n {
		at := j * isa.BlockLanes
		pixels(rows, 2, blocks, &a[0], jumpA, &b[at], &start[at], &c[j*jumpC], isa.BlockLanes/2, accumulate, floor, tiles)
	}
}

// pixelGo computes a block of columns of one pixel.
func pixelGo(blocks int, a []float32, jumpA int, b, start, c []float32, accumulate, floor bool) {
	for lane := 0; lane < isa.BlockLanes; lane += len(vec.Eight{}) {
		sums := vec.Eight(start[lane:])
		for block := range blocks {
			sums.AddProducts(isa.BlockLanes, a[block*jumpA:], 1, b[block*isa.BlockLanes*pixelPanel+lane:], pixelPanel)
		}
		finish(&sums, c[lane:], accumulate, floor)
	}
}

// finish stores sums, added to what c holds if accumulate is set, and not below 0 with floor.
func finish(sums *vec.Eight, c []float32, accumulate, floor bool) {
	for j, v := range sums {
		if accumulate {
			v += c[j]
		}
		if floor && v < 0 {
			v = 0
		}
		c[j] = v
	}
}

// PixelSumSize returns the rows of a tile of PixelSums, and the largest number of blocks of columns.
func PixelSumSize() (rows, blocks int) {
	if isa.Width() == 16 {
		return 8, 3
	}
	return isa.BlockLanes, 1
}

// PixelRuns are the pixels that PixelSums adds up: runs of N pixels side by side. Runs are NextA values apart in A and NextB in B; blocks of
// channels are JumpA apart in A and JumpB in B. Ahead, unless empty, is memory that will be read next, and is prefetched: a block for each tile
// of rows. These blocks are JumpAhead apart, and their runs NextAhead.
type PixelRuns struct {
	Runs, N, NextA, NextB, JumpA, JumpB int
	Ahead                               []float32
	NextAhead, JumpAhead                int
}

// PixelSums is the micro-kernel of the weight gradient of pointwise convolutions of images in blocks of channels, for rows
// first <= i < first+m, where first begins a tile, and n columns:
//
//	c[(i-first)*ldc+j] (+)= Σ A[p][i]*B[p][j] over pixels p
//
// where A[p][i] is a[i/16*JumpA+p*16+i%16] and B[p][j] is b[j/16*JumpB+p*16+j%16] in the first run. C is not read unless
// accumulate is set.
func PixelSums(r *PixelRuns, a, b, c []float32, ldc, first, m, n int, accumulate bool) {
	const lanes = isa.BlockLanes
	last, columns := (r.N-1)*lanes, (n+lanes-1)/lanes
	_ = b[(r.Runs-1)*r.NextB+(columns-1)*r.JumpB+last+lanes-1]
	_, _ = a[(r.Runs-1)*r.NextA+(first+m-1)/lanes*r.JumpA+last+lanes-1], c[(m-1)*ldc+n-1]
	if isa.Vectors() {
		sumTiles(columns, r, a[first/lanes*r.JumpA+first%lanes:], &b[0], c, ldc, first%lanes > 0, accumulate, m, n)
		return
	}
	for i := 0; i < m; i += lanes - (first+i)%lanes {
		block, lane := (first+i)/lanes, (first+i)%lanes
		for run := range r.Runs {
			pixelSumsGo(r.N, a[block*r.JumpA+run*r.NextA+lane:], b[run*r.NextB:], c[i*ldc:], ldc, min(m-i, lanes-lane), n, accumulate || run > 0)
		}
	}
}

// pixelSumsGo adds up a run of n pixels in plain Go, for rows of one block of A and columns of one block of B.
func pixelSumsGo(pixels int, a, b, c []float32, ldc, m, n int, accumulate bool) {
	for i := range m {
		for j := 0; j < n; j += len(vec.Eight{}) {
			var sums vec.Eight // those of columns beyond n are not stored
			to := c[i*ldc+j : i*ldc+min(j+len(sums), n)]
			if accumulate {
				copy(sums[:], to)
			}
			sums.AddProducts(pixels, a[i:], isa.BlockLanes, b[j:], isa.BlockLanes)
			copy(to, sums[:])
		}
	}
}

// sumTiles calls the micro-kernels of PixelSums. With AVX-512 one kernel computes some blocks of columns for tiles of half a block of rows; if odd
// is set, a points to the second half. With AVX2 three kernels share the rows of a block, one after the other.
func sumTiles(columns int, r *PixelRuns, a []float32, b *float32, c []float32, ldc int, odd, accumulate bool, m, n int) {
	nextA, nextB := r.NextA-r.N*isa.BlockLanes, r.NextB-r.N*isa.BlockLanes
	ahead, nextAhead, jumpAhead := b, nextB, 0
	if len(r.Ahead) > 0 {
		ahead, nextAhead, jumpAhead = &r.Ahead[0], r.NextAhead-r.N*isa.BlockLanes, r.JumpAhead
	}
	if isa.Width() == 8 {
		for row := 0; row < m; row += isa.BlockLanes {
			a, c := a[row/isa.BlockLanes*r.JumpA:], c[row*ldc:]
			if len(r.Ahead) > 0 {
				ahead = &r.Ahead[row/isa.BlockLanes*r.JumpAhead]
			}
			pixelSums(6, 2, r.Runs, r.N, &a[0], nextA, 0, 0, b, 8, nextB, ahead, nextAhead, 0, &c[0], ldc, accumulate, 1, min(6, m-row), n, isa.Mask(0))
			for i := 6; i < min(isa.BlockLanes, m-row); i += 5 {
				pixelSums(5, 2, r.Runs, r.N, &a[i], nextA, 0, 0, b, 8, nextB, b, nextB, 0, &c[i*ldc], ldc, accumulate, 1, min(5, m-row-i), n, isa.Mask(0))
			}
		}
		return
	}
	const rows = isa.BlockLanes / 2
	step, then := rows, r.JumpA-rows
	if odd {
		step, then = then, step
	}
	whole := m / rows
	if whole > 0 {
		pixelSums(rows, columns, r.Runs, r.N, &a[0], nextA, step, then, b, r.JumpB, nextB, ahead, nextAhead, jumpAhead, &c[0], ldc, accumulate, whole, rows, n, isa.Mask(0))
	}
	if rest := m % rows; rest > 0 {
		a, c := a[whole/2*r.JumpA+whole%2*step:], c[whole*rows*ldc:]
		pixelSums(rows, columns, r.Runs, r.N, &a[0], nextA, 0, 0, b, r.JumpB, nextB, b, nextB, 0, &c[0], ldc, accumulate, 1, rest, n, isa.Mask(0))
	}
}
