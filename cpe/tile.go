package cpe

// Tile is a block of a matrix spread over the LDMs of a core group. Its rows are cut into RowParts parts and its columns into ColParts; part
// (p, q) belongs to CPE (p mod Rows, q mod Cols) of the mesh. All parts have the size ceil(extent/parts), except the last ones.
//
// This computer stores the values of all parts in one array, in the order in which its micro-kernel reads the whole block. Only the parts'
// owners, senders and receivers are tracked part by part.
type Tile struct {
	RowParts, ColParts int
	Layout             Layout
	// Double says that there are two buffers, so that the next block is transferred while this one is computed.
	Double bool
	// Sent says that CPEs send each other their parts, which RMA writes to buffers in LDM. Register buses need none.
	Sent bool
	// PadRows and PadCols, if not 0, round up the rows and columns of a placed block in this computer's storage, so that it can compute whole
	// micro-tiles. The modelled machine has no such padding.
	PadRows, PadCols int
	// Product is the kernel that multiplies the tile. OriginalSingle leaves values in single precision even if the machine otherwise converts
	// them.
	Product Product

	cuts
	values []float32
	ld     int // distance of rows of a placed block
	home
}

// cuts are the extents of a tile's current block, and its parts.
type cuts struct {
	rows, cols         int
	partRows, partCols int    // of the largest part
	parts              []Part // part (p, q) at p*ColParts + q
}

// home is the place in a matrix to which a placed tile belongs.
type home struct {
	matrix   Matrix
	row, col int
}

// Part is one CPE's part of a tile: Rows x Cols values of the block from (Row, Col) on.
type Part struct{ Row, Col, Rows, Cols int }

// cut cuts the tile into parts for a block.
func (t *Tile) cut(rows, cols int) {
	t.rows, t.cols = rows, cols
	t.partRows = (rows + t.RowParts - 1) / t.RowParts
	t.partCols = (cols + t.ColParts - 1) / t.ColParts
	t.ld = padded(cols, t.PadCols)
	for i := range t.parts {
		p := &t.parts[i]
		p.Row, p.Rows = piece(i/t.ColParts, t.partRows, rows)
		p.Col, p.Cols = piece(i%t.ColParts, t.partCols, cols)
	}
}

// padded rounds n up to a multiple of to; if to is 0 it returns n.
func padded(n, to int) int {
	if to == 0 {
		return n
	}
	return (n + to - 1) / to * to
}

// piece returns the start and length of piece i of an extent that is cut into pieces of equal size.
func piece(i, size, extent int) (at, length int) {
	at = min(i*size, extent)
	return at, min(size, extent-at)
}

// Part returns part (p, q).
func (t *Tile) Part(p, q int) *Part { return &t.parts[p*t.ColParts+q] }

// Extent returns the extents of the largest part.
func (t *Tile) Extent() (rows, cols int) { return t.partRows, t.partCols }

// partValues returns the number of values of LDM that one CPE of a mesh needs for blocks of up to rows x cols.
func (t *Tile) partValues(s *Spec, rows, cols int) int {
	part := ((rows + t.RowParts - 1) / t.RowParts) * ((cols + t.ColParts - 1) / t.ColParts)
	n, received := t.perCPE(s)*part, 0
	if t.Sent && s.HasRMA() {
		received = 2 * part // the part in use, and the one that arrives
		if t.converted(s) {
			received *= 2
		}
	}
	switch {
	case t.converted(s) && t.Double:
		n *= 3 // double precision, plus the next block in single precision
	case t.converted(s) || t.Double:
		n *= 2
	}
	return n + received
}

// converted reports whether the tile's values are in double precision in LDM.
func (t *Tile) converted(s *Spec) bool { return s.doubles() && t.Product != OriginalSingle }

// stored is the number of values of this computer's storage for all parts, including the panels' padding.
func (t *Tile) stored(rows, cols int) int {
	return t.Layout.Size(padded(rows, t.PadRows), padded(cols, t.PadCols))
}

// perCPE is the largest number of parts that one CPE owns.
func (t *Tile) perCPE(s *Spec) int {
	return ((t.RowParts + s.Rows - 1) / s.Rows) * ((t.ColParts + s.Cols - 1) / s.Cols)
}

// Need sums the needs of tiles: values of a CPE's LDM, and values of storage for Reserve.
func Need(s *Spec, tiles ...TileExtent) (ldm, stored int) {
	for _, t := range tiles {
		if t.Placed && !s.HasDMA() {
			continue
		}
		ldm += t.Tile.partValues(s, t.Rows, t.Cols)
		stored += t.Tile.stored(t.Rows, t.Cols)
	}
	return ldm, stored
}

// TileExtent is a tile with the largest block that it will hold. Placed says that the tile is only placed; without DMA it then needs nothing.
type TileExtent struct {
	Tile       *Tile
	Rows, Cols int
	Placed     bool
}

// Divide allocates the tile's parts, once. Take does so too, but a core group may first call Take when nothing should be allocated.
func (t *Tile) Divide() {
	if len(t.parts) != t.RowParts*t.ColParts {
		t.parts = make([]Part, t.RowParts*t.ColParts)
	}
}

// Take allocates LDM for a tile on all CPEs until Free, for blocks of up to rows x cols.
func (g *CoreGroup) Take(kernel string, t *Tile, rows, cols int) error {
	s := g.Spec()
	t.Divide()
	ldm := t.partValues(s, rows, cols)
	for _, c := range g.cpes {
		if err := c.Hold(kernel, ldm); err != nil {
			return err
		}
	}
	t.values = g.carve(t.stored(rows, cols))
	return nil
}

// carve returns the next n values of the storage of tiles, nil if no values are kept.
func (g *CoreGroup) carve(n int) []float32 {
	if !g.Values() {
		return nil
	}
	g.taken += n
	if g.taken > len(g.tiles) {
		panic("cpe: a kernel's tiles take more storage than it reserved")
	}
	return g.tiles[g.taken-n : g.taken : g.taken]
}

// Free releases the LDM of all CPEs.
func (g *CoreGroup) Free() {
	g.taken = 0
	for _, c := range g.cpes {
		c.Free()
	}
}

// Get transfers the block of rows x cols from (row, col) on of a view to a tile: each CPE its parts.
func (g *CoreGroup) Get(t *Tile, v View, row, col, rows, cols int) {
	t.cut(rows, cols)
	if g.HasDMA() {
		g.chargeTile(t, v.Run(t.partRows, t.partCols), false)
	}
	if g.Values() && rows > 0 && cols > 0 {
		v.Gather(t.values, t.Layout, row, col, rows, cols)
	}
}

// Place makes a tile the destination of a block of a matrix. Without DMA it is the matrix itself. Otherwise the parts are in LDM, and hold the
// block's values only if load is set.
func (g *CoreGroup) Place(t *Tile, m Matrix, row, col, rows, cols int, load bool) {
	t.home = home{m, row, col}
	t.cut(rows, cols)
	if !g.HasDMA() || !load {
		return
	}
	g.chargeTile(t, m.runs(t.partRows, t.partCols), false)
	if g.Values() {
		m.load(t.values, t.ld, row, col, rows, cols)
	}
}

// Target returns the matrix that holds a placed block, and where the block starts in it.
func (g *CoreGroup) Target(t *Tile) (m Matrix, row, col int) {
	if !g.HasDMA() {
		return t.matrix, t.row, t.col
	}
	return Plain(t.values, t.ld), 0, 0
}

// HasMargin reports whether a placed tile has storage for whole micro-tiles at its right and lower edges (PadRows, PadCols). Without DMA it
// ends where the matrix does.
func (g *CoreGroup) HasMargin(t *Tile) bool { return g.HasDMA() && t.PadRows > 0 && t.PadCols > 0 }

// Values returns the values of a block that Get transferred, in the order of the tile's layout.
func (t *Tile) Values() []float32 { return t.values }

// Put writes a placed tile back to its matrix.
func (g *CoreGroup) Put(t *Tile) {
	if !g.HasDMA() {
		return
	}
	g.chargeTile(t, t.matrix.runs(t.partRows, t.partCols), true)
	if g.Values() {
		t.matrix.store(t.values, t.ld, t.row, t.col, t.rows, t.cols)
	}
}

// PutLater is Put of a tile with two buffers (Double): its transfer overlaps with the work of the next step, which must end with Overlap.
func (g *CoreGroup) PutLater(t *Tile) {
	now := g.step
	g.step = g.later
	g.Put(t)
	g.step, g.later = now, g.step
}

// chargeTile charges the transfer of a tile. All owners of parts transfer at once; the time is that of the largest part.
func (g *CoreGroup) chargeTile(t *Tile, run int, put bool) {
	values := t.partRows * t.partCols
	if values == 0 {
		return
	}
	s := g.Spec()
	rows := min((t.rows+t.partRows-1)/t.partRows, s.Rows)
	cols := min((t.cols+t.partCols-1)/t.partCols, s.Cols)
	run = max(1, min(run, values))
	each := t.perCPE(s)
	stream, wait := g.transfer(rows*cols, s.Bytes(run), float64(values)/float64(run), put)
	for range each {
		g.step.request(stream, wait)
	}
	g.step.compute += fromNs(s.convertNs(values*each, t.Product))
	g.count(s.Bytes(t.rows*t.cols), (rows*cols)*each, put)
	if g.machine.tracing {
		g.movedTile(t, put)
	}
}

// Whole returns the extents of the tile's current block.
func (t *Tile) Whole() (rows, cols int) { return t.rows, t.cols }

// TakePlaced is Take for a tile that is only placed, which needs no LDM without DMA.
func (g *CoreGroup) TakePlaced(kernel string, t *Tile, rows, cols int) error {
	if g.HasDMA() {
		return g.Take(kernel, t, rows, cols)
	}
	t.Divide()
	return nil
}
