package shape

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// Thin is the pixels of an H x W plane at multiples of the strides: every StrideW-th pixel of every StrideH-th row, numbered row by row.
type Thin struct{ H, W, StrideH, StrideW int }

// Rows and Cols return the numbers of rows and columns of these pixels.
func (t *Thin) Rows() int { return tiling.Blocks(t.H, t.StrideH) }
func (t *Thin) Cols() int { return tiling.Blocks(t.W, t.StrideW) }

// Pixels returns the number of these pixels.
func (t *Thin) Pixels() int { return t.Rows() * t.Cols() }

// Place returns the index of pixel i in its plane; for i = Pixels() it returns the end of the plane.
func (t *Thin) Place(i int) int {
	cols := t.Cols()
	return min(i/cols*t.StrideH*t.W+i%cols*t.StrideW, t.H*t.W)
}

// EachRun calls f for each run of the pixels [first, last) in one row: n pixels from number i on, the first of which is at place.
func (t *Thin) EachRun(first, last int, f func(i, place, n int)) {
	for i, cols := first, t.Cols(); i < last; {
		n := min(cols-i%cols, last-i)
		f(i, t.Place(i), n)
		i += n
	}
}

// Gather copies the pixels [first, last) of a block of channels from their plane to dst, side by side.
func (t *Thin) Gather(dst, plane []float32, first, last int) {
	t.EachRun(first, last, func(i, place, n int) {
		vec.CopyRows(dst[(i-first)*BlockLanes:], BlockLanes, plane[place*BlockLanes:], t.StrideW*BlockLanes, n, BlockLanes)
	})
}

// Spread is the inverse of Gather. It writes zeros to the pixels between, from the place of pixel first to that of pixel last.
func (t *Thin) Spread(plane, src []float32, first, last int) {
	clear(plane[t.Place(first)*BlockLanes : t.Place(last)*BlockLanes])
	t.EachRun(first, last, func(i, place, n int) {
		vec.CopyRows(plane[place*BlockLanes:], t.StrideW*BlockLanes, src[(i-first)*BlockLanes:], BlockLanes, n, BlockLanes)
	})
}
