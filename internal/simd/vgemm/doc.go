// Package vgemm holds the micro-kernels of matrix products in float32, and the packing of their panels.
//
// MicroKernel is the one of BLIS: it multiplies a packed panel of A with a packed panel of B into a tile of C of the size that Tile says.
// StridedPanel does without packing, ScatteredKernel takes rows of B from anywhere, and DotRows, MixRows and OuterRows are for products with one
// or two rows, which read a matrix once from memory. The kernels check nothing but that slices are long enough.
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

// upTo is the number of rows, a third, two thirds or all of a tile's mr, of the smallest kernel for m of them; none for none. It does not divide
// by mr: that would take as long as a small tile's loop.
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
