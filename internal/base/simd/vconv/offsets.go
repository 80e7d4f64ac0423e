package vconv

import (
	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// maxOffsetLines is the largest number of lines that OffsetSums reads.
const maxOffsetLines = 4

// OffsetPixels is the largest number of pixels of a tile of OffsetKernel.
func OffsetPixels() int { return have.TilePixels }

// OffsetTiles is a run of pixels that OffsetKernel convolves: tiles of N pixels, at most OffsetPixels, one after the other. At a kernel offset,
// inputs of neighbouring pixels are Step apart. Results are in blocks of channels JumpC apart.
type OffsetTiles struct {
	Tiles, N, Step, JumpC int
	Pairs                 bool // inputs and weights are pairs of bfloat16 values (RoundPairs), and both products of a pair are added; it needs HasPairs
}

// OffsetKernel is the micro-kernel of convolutions whose images lie by planes and whose results lie in blocks of channels. Lanes are output
// channels; a kernel's taps are offsets into the padded image. For pixels i and the first n blocks of 16 of the 32 columns j of b
//
//	C[i][j] (+)= start[j] + Σk x[offs[k]+i*Step] * b[k*32+j]
//
// where C[i][j] is c[j/16*JumpC+i*16+j%16]. C is not read unless accumulate is set. With floor, values below 0 become 0.
func OffsetKernel(r *OffsetTiles, offs []int, x, b, start, c []float32, n int, accumulate, floor bool) {
	const lanes = isa.BlockLanes
	k, all := len(offs), r.Tiles*r.N
	_, _, _ = b[(k-1)*pixelPanel+n*lanes-1], start[n*lanes-1], c[(n-1)*r.JumpC+all*lanes-1]
	step, vectors, apart := spread(n, r.JumpC)
	factors := values
	if r.Pairs {
		factors = pairs
	}
	kernel := have.Offsets[factors][r.N][vectors]
	if kernel == none {
		for j := range n {
			for i := range all {
				offsetsGo(offs, x[i*r.Step:], b[j*lanes:], start[j*lanes:], c[j*r.JumpC+i*lanes:], accumulate, floor)
			}
		}
		return
	}
	for j := 0; j < n; j += step {
		kernel.run(r.Tiles, k, &x[0], r.Step, &offs[0], &b[j*lanes], &start[j*lanes], &c[j*r.JumpC], apart, accumulate, floor)
	}
}

// offsetsGo computes a block of columns of one pixel.
func offsetsGo(offs []int, x, b, start, c []float32, accumulate, floor bool) {
	for lane := 0; lane < isa.BlockLanes; lane += len(vec.Eight{}) {
		sums := vec.Eight(start[lane:])
		sums.AddProductsAt(offs, x, b[lane:], pixelPanel)
		finish(&sums, c[lane:], accumulate, floor)
	}
}

// OffsetSumSize returns the largest numbers of kernel offsets, and of lines of them, that OffsetSums takes.
func OffsetSumSize() (offsets, lines int) { return OffsetPixels(), maxOffsetLines }

// OffsetRows are the pixels that OffsetSums adds up: rows of N results, in blocks of channels JumpY apart, rows NextY apart. At a kernel offset,
// inputs of neighbouring results are Step apart; rows of inputs are NextX apart. Ahead, unless empty, is memory that will be read next: it is
// prefetched, as many pixels as are added up.
type OffsetRows struct {
	Rows, N, Step, NextX, JumpY, NextY int
	Ahead                              []float32
}

// OffsetSums is the micro-kernel of the weight gradient of OffsetKernel's convolutions. A line has width kernel offsets i. For them and the first n
// blocks of 16 of the 32 columns j of c:
//
//	c[i*32+j] (+)= Σ x[lines[i/width]+p*Step+i%width] * Y[p][j] over the pixels p of all rows
//
// where Y[p][j] is y[j/16*JumpY+p*16+j%16] in the first row. C is not read unless accumulate is set.
func OffsetSums(r *OffsetRows, lines []int, width int, x, y, c []float32, n int, accumulate bool) {
	const lanes = isa.BlockLanes
	_, _ = y[(r.Rows-1)*r.NextY+(n-1)*r.JumpY+r.N*lanes-1], c[(len(lines)*width-1)*pixelPanel+n*lanes-1]
	nextX, nextY := r.NextX-r.N*r.Step, r.NextY-r.N*lanes
	ahead := y
	if len(r.Ahead) > 0 {
		ahead = r.Ahead
	}
	step, vectors, apart := spread(n, r.JumpY)
	kernel := have.OffsetSums[len(lines)][width][vectors]
	if kernel == none {
		for i := range len(lines) * width {
			for j := range n {
				offsetSumsGo(r, x[lines[i/width]+i%width:], y[j*r.JumpY:], c[i*pixelPanel+j*lanes:], accumulate)
			}
		}
		return
	}
	for j := 0; j < n; j += step {
		kernel.run(r.Rows, r.N, &x[0], &lines[0], r.Step, nextX, &y[j*r.JumpY], apart, nextY, &ahead[0], &c[j*lanes], accumulate)
	}
}

// offsetSumsGo computes a block of columns of one offset.
func offsetSumsGo(r *OffsetRows, x, y, c []float32, accumulate bool) {
	for lane := 0; lane < isa.BlockLanes; lane += len(vec.Eight{}) {
		var sums vec.Eight
		if accumulate {
			sums = vec.Eight(c[lane:])
		}
		for row := range r.Rows {
			sums.AddProducts(r.N, x[row*r.NextX:], r.Step, y[row*r.NextY+lane:], isa.BlockLanes)
		}
		*(*vec.Eight)(c[lane:]) = sums
	}
}
