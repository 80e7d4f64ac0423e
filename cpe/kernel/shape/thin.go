package shape

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
)

// Thin is what strides leave of planes of H x W pixels: every StrideW-th pixel of every StrideH-th row. These are numbered row by row.
type Thin struct{ H, W, StrideH, StrideW int }

// Rows and Cols are how many rows and columns are left.
func (t *Thin) Rows() int { return tiling.Blocks(t.H, t.StrideH) }
func (t *Thin) Cols() int { return tiling.Blocks(t.W, t.StrideW) }

// Pixels is how many pixels are left.
func (t *Thin) Pixels() int { return t.Rows() * t.Cols() }

// Place is where in its plane pixel i stands, and for i = Pixels() where the plane ends.
func (t *Thin) Place(i int) int {
	cols := t.Cols()
	return min(i/cols*t.StrideH*t.W+i%cols*t.StrideW, t.H*t.W)
}

// EachRun calls f for the runs of pixels [first, last) that stand on a row: n from number i on, of which the first stands at place.
func (t *Thin) EachRun(first, last int, f func(i, place, n int)) {
	for i, cols := first, t.Cols(); i < last; {
		n := min(cols-i%cols, last-i)
		f(i, t.Place(i), n)
		i += n
	}
}

// Gather brings pixels [first, last) of a plane of a block of channels together.
func (t *Thin) Gather(dst, plane []float32, first, last int) {
	t.EachRun(first, last, func(i, place, n int) {
		vec.CopyRows(dst[(i-first)*BlockLanes:], BlockLanes, plane[place*BlockLanes:], t.StrideW*BlockLanes, n, BlockLanes)
	})
}

// Spread is the inverse of Gather: pixels that strides leave out become 0, from the place of the first to that of pixel last.
func (t *Thin) Spread(plane, src []float32, first, last int) {
	clear(plane[t.Place(first)*BlockLanes : t.Place(last)*BlockLanes])
	t.EachRun(first, last, func(i, place, n int) {
		vec.CopyRows(plane[place*BlockLanes:], t.StrideW*BlockLanes, src[(i-first)*BlockLanes:], BlockLanes, n, BlockLanes)
	})
}
