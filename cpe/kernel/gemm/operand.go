package gemm

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/internal/base/simd/vgemm"
)

// operands are the arrays of the current run of a product: C = op(A)*op(B), plus the bias in every row if it is not nil.
type operands struct{ a, b, bias, c []float32 }

// Operand is a View of a matrix in memory, or of its transpose.
type Operand struct {
	cpe.Matrix
	trans bool
}

// Set points the operand at a matrix or its transpose.
func (o *Operand) Set(m cpe.Matrix, trans bool) { o.Matrix, o.trans = m, trans }

// Run returns the length of contiguous runs of memory in a block.
func (o *Operand) Run(rows, cols int) int {
	if o.trans {
		rows, cols = cols, rows
	}
	if cols == o.Matrix.Run && o.Ld == cols {
		return rows * cols
	}
	return min(cols, o.Matrix.Run)
}

// Gather packs a block. If the panels' lanes are stored rows, a panel is a transposed part of the matrix; if they are stored columns, it is a
// copy.
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

// across packs n stored rows from row on, columns [col, col+deep), into one panel, in which the rows' values are side by side, width apart.
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

// ClearTail clears the last panel of n lanes if it is not full.
func ClearTail(panels []float32, width, n, deep int) {
	if n%width != 0 {
		clear(panels[n/width*width*deep:][:width*deep])
	}
}
