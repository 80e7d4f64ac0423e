package cpe

// View is a matrix in main memory that Get can bring to a tile: stored as it is or transposed, or one that exists only
// as a rule, such as the columns of a convolution.
type View interface {
	// Run describes how a block of rows x cols lies in memory: contiguous runs of length values.
	Run(rows, cols int) (length int)
	// Gather copies the block whose first element is (row, col) to dst in the order that the layout says.
	Gather(dst []float32, layout Layout, row, col, rows, cols int)
}

// Layout is the order of a block's values in a tile. Panel 0 is row after row. Otherwise the block is cut into panels as
// a micro-kernel reads them: with ByRows, panels of Panel rows, each column after column (the left operand of a
// product); else panels of Panel columns, each row after row (the right one). The last panel is filled up with zeros.
type Layout struct {
	Panel  int
	ByRows bool
}

// Size returns the number of values that a block takes in a tile.
func (l Layout) Size(rows, cols int) int {
	switch {
	case l.Panel == 0:
		return rows * cols
	case l.ByRows:
		return (rows + l.Panel - 1) / l.Panel * l.Panel * cols
	}
	return (cols + l.Panel - 1) / l.Panel * l.Panel * rows
}

// Matrix is a matrix that is written, in main memory or in LDM. Element (r, c) stands at r*Ld + c/Run*Jump + c%Run: its
// columns come in runs, so that the results of a batch of images, Jump values apart, are one matrix of channels x
// (images x positions). A plain matrix is one run.
type Matrix struct {
	Data          []float32
	Ld, Run, Jump int
}

// Plain is a row-major matrix whose rows start ld values apart.
func Plain(data []float32, ld int) Matrix { return Matrix{Data: data, Ld: ld, Run: max(1, ld)} }

// Place returns where element (r, c) stands and how many elements of its row follow each other from there.
func (m *Matrix) Place(r, c int) (at, run int) {
	if c < m.Run {
		return r*m.Ld + c, m.Run - c
	}
	return r*m.Ld + c/m.Run*m.Jump + c%m.Run, m.Run - c%m.Run
}

// runs is the length of contiguous runs of a block of rows x cols, in values.
func (m *Matrix) runs(rows, cols int) int {
	if cols == m.Run && m.Ld == m.Run {
		return rows * cols
	}
	return min(cols, m.Run)
}

// load copies a block to dst, where rows begin ld values apart.
func (m *Matrix) load(dst []float32, ld, row, col, rows, cols int) {
	for c := 0; c < cols; {
		at, run := m.Place(row, col+c)
		run = min(run, cols-c)
		copyRows(dst[c:], ld, m.Data[at:], m.Ld, rows, run)
		c += run
	}
}

// store copies src, where rows begin ld values apart, to a block.
func (m *Matrix) store(src []float32, ld, row, col, rows, cols int) {
	for c := 0; c < cols; {
		at, run := m.Place(row, col+c)
		run = min(run, cols-c)
		copyRows(m.Data[at:], m.Ld, src[c:], ld, rows, run)
		c += run
	}
}
