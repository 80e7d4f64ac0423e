// Package vgemm holds the micro-kernels of matrix products in float32, and the packing of their panels.
//
// MicroKernel is BLIS's: it multiplies a packed panel of A with a packed panel of B into a tile of C, whose size Tile returns. StridedPanel needs
// no packing. ScatteredKernel reads rows of B at any offsets. DotRows, MixRows and OuterRows are for products with one or two rows, which read
// a matrix once from memory. The kernels check only that slices are long enough.
package vgemm

// Tile returns the rows and columns of the tile of MicroKernel.
func Tile() (mr, nr int) { return have.Rows, have.Columns }

// thirds is the size of the smallest kernel that computes m rows, in thirds of a tile; 0 if m is 0. It does not divide by the tile: a division would
// take as long as a small tile's loop.
func thirds(m int) int {
	switch third := have.Rows / 3; {
	case m > 2*third:
		return 3
	case m > third:
		return 2
	default:
		return min(m, 1)
	}
}

// vectors is the number of vectors, one or two, that n columns of a tile take.
func vectors(n int) int {
	if n > have.Columns/2 {
		return 2
	}
	return 1
}
