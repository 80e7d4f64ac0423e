package gemm

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/base/simd/vgemm"
)

// AtOnce returns how many of m rows a strided kernel can compute in one call, deep columns of each. It is m, unless the last tile would read
// beyond the matrix; then it is the rows before that tile, or the tile alone.
func (o *Operand) AtOnce(row, m, deep int) int {
	mr, _ := vgemm.Tile()
	if m <= mr || o.inside(row, m, 0, deep) {
		return m
	}
	return (m - 1) / mr * mr
}

// inside reports whether a strided kernel for m rows reads nothing beyond the matrix.
func (o *Operand) inside(row, m, col, deep int) bool {
	at, down, along := o.steps(row, col)
	return at+(vgemm.StridedRows(m)-1)*down+(deep-1)*along < len(o.Data)
}

// steps returns the index of value (row, col), and the distances of the next value down and along.
func (o *Operand) steps(row, col int) (at, down, along int) {
	if o.trans {
		return col*o.Ld + row, 1, o.Ld
	}
	return row*o.Ld + col, o.Ld, 1
}

// Strided returns m rows, columns [col, col+deep), as operands of a strided kernel, with the distances of values down and along. They are
// read in place or, if the kernel would read beyond the matrix, packed into panel; these are at most one tile.
func (o *Operand) Strided(panel []float32, row, m, col, deep int) (data []float32, down, along int) {
	if o.inside(row, m, col, deep) {
		at, down, along := o.steps(row, col)
		return o.Data[at:], down, along
	}
	mr, _ := vgemm.Tile()
	o.Gather(panel, cpe.Layout{Panel: mr, ByRows: true}, row, col, m, deep)
	return panel, 1, mr
}
