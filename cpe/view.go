package cpe

// View is a matrix that Get can transfer to a tile. It is stored, as it is or transposed, or computed on the fly, such as the column matrix
// of a convolution.
type View interface {
	// Run returns the length of the contiguous runs of memory in a block of rows x cols.
	Run(rows, cols int) (length int)
	// Gather copies the block whose first element is (row, col) to dst, in the order of layout.
	Gather(dst []float32, layout Layout, row, col, rows, cols int)
}

// Layout is the order of a block's values in a tile. Panel 0 is row-major. Otherwise the block is cut into panels as a micro-kernel reads
// them. With ByRows a panel has Panel rows and is stored column by column (the left operand of a product). Otherwise it has Panel columns and
// is stored row by row (the right operand). The last panel is padded with zeros.
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

// Matrix is a matrix in main memory or in LDM that can be written. Element (r, c) is at r*Ld + c/Run*Jump + c%Run. Columns come in runs, so
// that the results of a batch of images, Jump values apart, form one matrix of channels x (images x positions). A plain matrix is one run.
type Matrix struct {
	Data          []float32
	Ld, Run, Jump int
}

// Plain is a row-major matrix whose rows start ld values apart.
func Plain(data []float32, ld int) Matrix { return Matrix{Data: data, Ld: ld, Run: max(1, ld)} }

// Place returns the index of element (r, c) and the number of contiguous elements of its row from there on.
func (m *Matrix) Place(r, c int) (at, run int) {
	if c < m.Run {
		return r*m.Ld + c, m.Run - c
	}
	return r*m.Ld + c/m.Run*m.Jump + c%m.Run, m.Run - c%m.Run
}

// runs returns the length of contiguous runs of a block of rows x cols, in values.
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
