// Package vgemm holds the micro-kernels of matrix products in float32, and the packing of their panels.
//
// MicroKernel is BLIS's: it multiplies a packed panel of A with a packed panel of B into a tile of C, whose size Tile returns. StridedPanel needs
// no packing. ScatteredKernel reads rows of B at any offsets. DotRows, MixRows and OuterRows are for products with one or two rows, which read
// a matrix once from memory. The kernels check only that slices are long enough.
package vgemm

import "github.com/swcaffe/swcaffe/internal/simd/isa"

// Tile returns the rows and columns of the tile of MicroKernel.
func Tile() (mr, nr int) {
	switch isa.Width() {
	case 16:
		return 12, 32
	case 8:
		return 6, 16
	}
	return goRows, goColumns
}

// goRows and goColumns are the tile of plain Go.
const goRows, goColumns = 4, 8

// upTo is the number of rows of the smallest kernel that computes m rows: a third, two thirds or all of a tile's mr; 0 if m is 0. It does not
// divide by mr: a division would take as long as a small tile's loop.
func upTo(m, mr int) int {
	switch third := mr / 3; {
	case m > 2*third:
		return 3 * third
	case m > third:
		return 2 * third
	default:
		return min(m, 1) * third
	}
}

// vectors is the number of vectors, one or two, that n columns of a tile take.
func vectors(n int) int {
	if n > isa.Width() {
		return 2
	}
	return 1
}
