package vconv

import (
	"unsafe"

	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// pixelPanel is the number of columns of PixelKernel's panels of B: two blocks.
const pixelPanel = 2 * isa.BlockLanes

// PixelRows is the largest number of pixels of a tile of PixelKernel.
func PixelRows() int { return have.TilePixels }

// PixelKernel is the micro-kernel of pointwise convolutions of images in blocks of channels, for pixels i, in tiles one behind another, and the
// first n blocks of 16 of the 32 columns j of b:
//
//	C[i][j] (+)= start[j] + Σp A[i][p]*b[p*32+j], p < 16*blocks
//
// where A[i][p] is a[p/16*jumpA+i*16+p%16] and C[i][j] is c[j/16*jumpC+i*16+j%16]. C is not read unless accumulate is set. With floor,
// values below 0 become 0; NaN stays.
func PixelKernel(blocks int, a []float32, jumpA int, b, start, c []float32, jumpC, rows, n int, accumulate, floor bool) {
	pixelKernel(values, blocks, a, jumpA, b, start, c, jumpC, Ahead{}, rows, n, accumulate, floor)
}

func pixelKernel(factors kind, blocks int, a []float32, jumpA int, b, start, c []float32, jumpC int, ahead Ahead, rows, n int, accumulate, floor bool) {
	const lanes = isa.BlockLanes
	deep := blocks * lanes // rows of b
	if factors == halves {
		deep /= 2
	}
	_, _ = a[(blocks-1)*jumpA+rows*lanes-1], b[(deep-1)*pixelPanel+n*lanes-1]
	_, _ = start[n*lanes-1], c[(n-1)*jumpC+rows*lanes-1]
	ahead = ahead.or(c, jumpC, rows)
	each, less, more := even(rows, have.TilePixels)
	if more > 0 {
		pixelTiles(factors, blocks, a, jumpA, b, start, c, jumpC, ahead, each+1, n, accumulate, floor, more)
	}
	done := more * (each + 1) * lanes
	ahead.At = ahead.At[done:]
	pixelTiles(factors, blocks, a[done:], jumpA, b, start, c[done:], jumpC, ahead, each, n, accumulate, floor, less)
}

// Ahead says what kernels fetch to L1 for the next pixels while they compute some: lines that are read or written after the product. Where At is nil, these are
// the results.
type Ahead struct {
	At     []float32 // 16 values for each pixel
	Jump   int       // from the lines of the first block of channels to those of the second
	Beside int       // bytes from these lines to others, which are fetched too
}

// or returns a or, if it has no lines, the results.
func (a Ahead) or(c []float32, jumpC, rows int) Ahead {
	if a.At == nil {
		a.At, a.Jump = c, jumpC
	}
	_ = a.At[rows*isa.BlockLanes-1]
	return a
}

// Beside returns the bytes from one array to another, for Ahead.
func Beside(from, to []float32) int {
	return int(uintptr(unsafe.Pointer(unsafe.SliceData(to))) - uintptr(unsafe.Pointer(unsafe.SliceData(from))))
}

// even cuts n pixels into the fewest tiles of at most most pixels: more tiles of each+1 pixels, then less tiles of each. A division of 64 bits would
// take as long as some tiles.
func even(n, most int) (each, less, more int) {
	tiles := uint32(n+most-1) / uint32(most)
	each = int(uint32(n) / tiles)
	more = n - int(tiles)*each
	return each, int(tiles) - more, more
}

// spread returns how kernels compute n blocks of channels that are jump apart: a number of blocks in a call, as a number of vectors that lie
// apart. Either vectors are blocks, or one block has several vectors.
func spread(n, jump int) (blocks, vectors, apart int) {
	if lanes := isa.Lanes(); lanes > 0 && lanes < isa.BlockLanes {
		return 1, isa.BlockLanes / lanes, lanes
	}
	return n, n, jump
}

// pixelTiles computes tiles of rows pixels each.
func pixelTiles(factors kind, blocks int, a []float32, jumpA int, b, start, c []float32, jumpC int, ahead Ahead, rows, n int, accumulate, floor bool, tiles int) {
	const lanes = isa.BlockLanes
	step, vectors, apart := spread(n, jumpC)
	if both := 2 * vectors; n > step && both < len(have.Pixels[factors][rows]) && have.Pixels[factors][rows][both] != none {
		step, vectors, apart = n, both, jumpC
	}
	kernel := have.Pixels[factors][rows][vectors]
	if kernel == none {
		for j := range n {
			for i := range tiles * rows {
				pixelGo(factors, blocks, a[i*lanes:], jumpA, b[j*lanes:], start[j*lanes:], c[j*jumpC+i*lanes:], accumulate, floor)
			}
		}
		return
	}
	for j := 0; j < n; j += step {
		kernel.run(blocks, &a[0], jumpA, &b[j*lanes], &start[j*lanes], &c[j*jumpC], apart, &ahead.At[0], ahead.Jump, ahead.Beside, accumulate, floor, tiles)
	}
}

// pixelGo computes a block of columns of one pixel.
func pixelGo(factors kind, blocks int, a []float32, jumpA int, b, start, c []float32, accumulate, floor bool) {
	const lanes = isa.BlockLanes
	var rows [lanes * len(vec.Eight{})]float32 // of float32 weights, if b has pairs
	for lane := 0; lane < lanes; lane += len(vec.Eight{}) {
		sums := vec.Eight(start[lane:])
		for block := range blocks {
			if factors != halves {
				sums.AddProducts(lanes, a[block*jumpA:], 1, b[block*lanes*pixelPanel+lane:], pixelPanel)
				continue
			}
			for at := range len(rows) / 2 {
				p, j := at/len(sums), at%len(sums)
				even, odd := vec.Unpair(b[(block*lanes/2+p)*pixelPanel+lane+j])
				rows[2*p*len(sums)+j], rows[(2*p+1)*len(sums)+j] = odd, even
			}
			sums.AddProducts(lanes, a[block*jumpA:], 1, rows[:], len(sums))
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
func PixelSumSize() (rows, blocks int) { return have.SumRows, have.SumBlocks }

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
	columns := (n + lanes - 1) / lanes
	if sumsByKernel(values, r, a, b, c, ldc, first, m, n, accumulate) {
		return
	}
	for i := 0; i < m; i += lanes - (first+i)%lanes {
		block, lane := (first+i)/lanes, (first+i)%lanes
		for run := range r.Runs {
			a := a[block*r.JumpA+run*r.NextA+lane:]
			for j := range columns {
				b, c := b[run*r.NextB+j*r.JumpB:], c[i*ldc+j*lanes:]
				pixelSumsGo(r.N, a, b, c, ldc, min(m-i, lanes-lane), min(n-j*lanes, lanes), accumulate || run > 0)
			}
		}
	}
}

// sumsByKernel computes PixelSums with the micro-kernels for a kind of factors, and reports false if there are none.
func sumsByKernel(factors kind, r *PixelRuns, a, b, c []float32, ldc, first, m, n int, accumulate bool) bool {
	const lanes = isa.BlockLanes
	last, columns := (r.N-1)*lanes, (n+lanes-1)/lanes
	_ = b[(r.Runs-1)*r.NextB+(columns-1)*r.JumpB+last+lanes-1]
	_, _ = a[(r.Runs-1)*r.NextA+(first+m-1)/lanes*r.JumpA+last+lanes-1], c[(m-1)*ldc+n-1]
	return sumTiles(factors, columns, r, a[first/lanes*r.JumpA+first%lanes:], b, c, ldc, first%lanes > 0, accumulate, m, n)
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

// sumTiles calls the micro-kernels of PixelSums, and reports false if there are none. With tiles of half a block of rows, one kernel computes some
// blocks of columns; if odd is set, a points to the second half. With tiles of a block, three kernels share the rows, one after the other.
func sumTiles(factors kind, columns int, r *PixelRuns, a, b, c []float32, ldc int, odd, accumulate bool, m, n int) bool {
	const rows = isa.BlockLanes / 2
	nextA, nextB := r.NextA-r.N*isa.BlockLanes, r.NextB-r.N*isa.BlockLanes
	ahead, nextAhead, jumpAhead := b, nextB, 0
	if len(r.Ahead) > 0 {
		ahead, nextAhead, jumpAhead = r.Ahead, r.NextAhead-r.N*isa.BlockLanes, r.JumpAhead
	}
	if have.SumRows > rows {
		_, vectors, apart := spread(1, 0)
		six, five := have.PixelSums[factors][6][vectors], have.PixelSums[factors][5][vectors]
		if six == none || five == none {
			return false
		}
		for row := 0; row < m; row += isa.BlockLanes {
			a, c := a[row/isa.BlockLanes*r.JumpA:], c[row*ldc:]
			if len(r.Ahead) > 0 {
				ahead = r.Ahead[row/isa.BlockLanes*r.JumpAhead:]
			}
			six.run(r.Runs, r.N, &a[0], nextA, 0, 0, &b[0], apart, nextB, &ahead[0], nextAhead, 0, &c[0], ldc, accumulate, 1, min(6, m-row), n, isa.Mask(0))
			for i := 6; i < min(isa.BlockLanes, m-row); i += 5 {
				five.run(r.Runs, r.N, &a[i], nextA, 0, 0, &b[0], apart, nextB, &b[0], nextB, 0, &c[i*ldc], ldc, accumulate, 1, min(5, m-row-i), n, isa.Mask(0))
			}
		}
		return true
	}
	kernel := have.PixelSums[factors][rows][columns]
	if kernel == none {
		return false
	}
	step, then := rows, r.JumpA-rows
	if odd {
		step, then = then, step
	}
	whole := m / rows
	if whole > 0 {
		kernel.run(r.Runs, r.N, &a[0], nextA, step, then, &b[0], r.JumpB, nextB, &ahead[0], nextAhead, jumpAhead, &c[0], ldc, accumulate, whole, rows, n, isa.Mask(0))
	}
	if rest := m % rows; rest > 0 {
		a, c := a[whole/2*r.JumpA+whole%2*step:], c[whole*rows*ldc:]
		kernel.run(r.Runs, r.N, &a[0], nextA, 0, 0, &b[0], r.JumpB, nextB, &b[0], nextB, 0, &c[0], ldc, accumulate, 1, rest, n, isa.Mask(0))
	}
	return true
}
