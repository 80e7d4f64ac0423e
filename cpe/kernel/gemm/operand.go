package gemm

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
	"github.com/swcaffe/swcaffe/internal/simd/vgemm"
)

// Operand is a matrix in memory, or its transpose, as an operand of a product.
type Operand struct {
	cpe.Matrix
	trans bool
}

// Set makes the operand a matrix or its transpose.
func (o *Operand) Set(m cpe.Matrix, trans bool) { o.Matrix, o.trans = m, trans }

// Run is the length of contiguous runs of a block.
func (o *Operand) Run(rows, cols int) int {
	if o.trans {
		rows, cols = cols, rows
	}
	if cols == o.Matrix.Run && o.Ld == cols {
		return rows * cols
	}
	return min(cols, o.Matrix.Run)
}

// Gather packs a block. Where the panels' lanes are rows as they are stored, panels are transposed pieces of the matrix;
// where they are columns, pieces as they are.
func (o *Operand) Gather(dst []float32, layout cpe.Layout, row, col, rows, cols int) {
	lane, lanes, depth, deep := row, rows, col, cols
	if !layout.ByRows {
		lane, lanes, depth, deep = col, cols, row, rows
	}
	if layout.ByRows == o.trans {
		o.along(dst, layout.Panel, lane, lanes, depth, deep)
		return
	}
	for at := 0; at < lanes; at += layout.Panel {
		o.across(dst[at*deep:], layout.Panel, lane+at, min(layout.Panel, lanes-at), depth, deep)
	}
}

// across packs n stored rows from row on, values [col, col+deep) of each, into a panel: value by value, width of them
// side by side.
func (o *Operand) across(panel []float32, width, row, n, col, deep int) {
	for k := 0; k < deep; {
		at, run := o.Place(row, col+k)
		run = min(run, deep-k)
		vgemm.PackA(panel[k*width:(k+run)*width], o.Data[at:], o.Ld, n, run, width)
		k += run
	}
}

// along packs n stored columns from col on, of the stored rows [row, row+deep), into panels.
func (o *Operand) along(panels []float32, width, col, n, row, deep int) {
	ClearTail(panels, width, n, deep)
	for c := 0; c < n; {
		at, run := o.Place(row, col+c)
		run = min(run, n-c)
		lane := c % width
		to := panels[(c-lane)*deep+lane:]
		if whole := run / width; lane == 0 && whole > 0 {
			run = whole * width
			vgemm.PackB(to, o.Data[at:], o.Ld, deep, whole, width)
		} else {
			run = min(run, width-lane)
			vec.CopyRows(to, width, o.Data[at:], o.Ld, deep, run)
		}
		c += run
	}
}

// ClearTail fills the last of the panels of n lanes with zeros if it has lanes to spare.
func ClearTail(panels []float32, width, n, deep int) {
	if n%width != 0 {
		clear(panels[n/width*width*deep:][:width*deep])
	}
}
