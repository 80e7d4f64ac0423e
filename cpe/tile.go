package cpe

// Tile is a block of a matrix spread over the LDMs of a core group: its rows are cut into as many parts as RowParts
// says and its columns into ColParts, and part (p, q) belongs to CPE (p mod Rows, q mod Cols) of the mesh. Parts are of
// one size, ceil(extent/parts), but for the last ones.
type Tile struct {
	RowParts, ColParts int
	Layout             Layout
	// Double says that there are two buffers, so that the next block comes while this one is worked on.
	Double bool
	// PadRows and PadCols, if not 0, are what the simulating computer pads a placed part's rows and columns to multiples of, so
	// that it can work on whole micro-tiles. They are no values of the machine.
	PadRows, PadCols int
	// Single says that values stay in single precision where the machine otherwise converts them.
	Single bool

	rows, cols         int // of the block that is held
	partRows, partCols int
	parts              []Part // part (p, q) at p*ColParts + q
	home               Matrix // where a placed tile goes
	row, col           int
}

// Part is one CPE's part of a tile: Rows x Cols values of the block from (Row, Col) on; those of a placed tile begin Ld apart.
type Part struct {
	Data                     []float32
	Row, Col, Rows, Cols, Ld int
}

// cut cuts the tile for a block.
func (t *Tile) cut(rows, cols int) {
	t.rows, t.cols = rows, cols
	t.partRows = (rows + t.RowParts - 1) / t.RowParts
	t.partCols = (cols + t.ColParts - 1) / t.ColParts
	for i := range t.parts {
		p := &t.parts[i]
		p.Row, p.Rows = piece(i/t.ColParts, t.partRows, rows)
		p.Col, p.Cols = piece(i%t.ColParts, t.partCols, cols)
		p.Ld = padded(p.Cols, t.PadCols)
	}
}

// padded is n as a multiple of to, or itself.
func padded(n, to int) int {
	if to == 0 {
		return n
	}
	return (n + to - 1) / to * to
}

// piece is the place and length of piece i of an extent that is cut into pieces of a size.
func piece(i, size, extent int) (at, length int) {
	at = min(i*size, extent)
	return at, min(size, extent-at)
}

// Part returns part (p, q).
func (t *Tile) Part(p, q int) *Part { return &t.parts[p*t.ColParts+q] }

// Extent returns the extents of the largest part.
func (t *Tile) Extent() (rows, cols int) { return t.partRows, t.partCols }

// PartValues returns the values of LDM that one CPE of a mesh needs for a tile that holds blocks of up to rows x cols.
func (t *Tile) PartValues(s *Spec, rows, cols int) int {
	n := t.perCPE(s) * ((rows + t.RowParts - 1) / t.RowParts) * ((cols + t.ColParts - 1) / t.ColParts)
	switch {
	case s.doubles() && !t.Single && t.Double:
		n *= 3 // double precision, and the next block as it arrives
	case s.doubles() && !t.Single || t.Double:
		n *= 2
	}
	return n
}

// stored is as PartValues, of the memory that the simulating computer needs: with its panels' padding, once.
func (t *Tile) stored(s *Spec, rows, cols int) int {
	rows, cols = (rows+t.RowParts-1)/t.RowParts, (cols+t.ColParts-1)/t.ColParts
	return t.perCPE(s) * t.Layout.Size(padded(rows, t.PadRows), padded(cols, t.PadCols))
}

// perCPE is the number of parts that one CPE owns at most.
func (t *Tile) perCPE(s *Spec) int {
	return ((t.RowParts + s.Rows - 1) / s.Rows) * ((t.ColParts + s.Cols - 1) / s.Cols)
}

// Need adds up what tiles take on a CPE: values of LDM, and values of storage with padding, for Reserve.
func Need(s *Spec, tiles ...TileExtent) (ldm, stored int) {
	for _, t := range tiles {
		ldm += t.Tile.PartValues(s, t.Rows, t.Cols)
		stored += t.Tile.stored(s, t.Rows, t.Cols)
	}
	return ldm, stored
}

// TileExtent is a tile with the largest block that it will hold.
type TileExtent struct {
	Tile       *Tile
	Rows, Cols int
}

// Take gives a tile its LDM on all CPEs, until Free, for blocks of up to rows x cols. A tile that is only placed
// natively needs none.
func (g *CoreGroup) Take(kernel string, t *Tile, rows, cols int) error {
	s := g.Spec()
	if len(t.parts) != t.RowParts*t.ColParts {
		t.parts = make([]Part, t.RowParts*t.ColParts)
	}
	ldm, stored := t.PartValues(s, rows, cols), t.stored(s, rows, cols)
	one := stored / max(1, t.perCPE(s))
	for _, c := range g.cpes {
		if err := c.Hold(kernel, ldm); err != nil {
			return err
		}
		buffer := c.carve(stored)
		for p := c.Row; p < t.RowParts && buffer != nil; p += s.Rows {
			for q := c.Col; q < t.ColParts; q += s.Cols {
				t.Part(p, q).Data, buffer = buffer[:one], buffer[one:]
			}
		}
	}
	return nil
}

// Free gives back the LDM of all CPEs.
func (g *CoreGroup) Free() {
	for _, c := range g.cpes {
		c.Free()
	}
}

// Get brings the block of rows x cols from (row, col) on of a view to a tile: each CPE its parts.
func (g *CoreGroup) Get(t *Tile, v View, row, col, rows, cols int) {
	t.cut(rows, cols)
	if !g.Native() {
		g.chargeTile(t, v.Run(t.partRows, t.partCols), false)
	}
	if !g.Values() {
		return
	}
	for i := range t.parts {
		if p := &t.parts[i]; p.Rows > 0 && p.Cols > 0 {
			v.Gather(p.Data, t.Layout, row+p.Row, col+p.Col, p.Rows, p.Cols)
		}
	}
}

// Place makes a tile the place to work out a block of a matrix. Natively this is the matrix itself; otherwise the parts
// are in LDM, and hold the block's values only if load is set.
func (g *CoreGroup) Place(t *Tile, m Matrix, row, col, rows, cols int, load bool) {
	t.home, t.row, t.col = m, row, col
	t.cut(rows, cols)
	if g.Native() || !load {
		return
	}
	g.chargeTile(t, m.runs(t.partRows, t.partCols), false)
	if !g.Values() {
		return
	}
	for i := range t.parts {
		p := &t.parts[i]
		m.load(p.Data, p.Ld, row+p.Row, col+p.Col, p.Rows, p.Cols)
	}
}

// Target returns the matrix that holds a placed part, and where in it the part starts.
func (g *CoreGroup) Target(t *Tile, p *Part) (m Matrix, row, col int) {
	if g.Native() {
		return t.home, t.row + p.Row, t.col + p.Col
	}
	return Plain(p.Data, p.Ld), 0, 0
}

// Put writes a placed tile to its matrix.
func (g *CoreGroup) Put(t *Tile) {
	if g.Native() {
		return
	}
	g.chargeTile(t, t.home.runs(t.partRows, t.partCols), true)
	if !g.Values() {
		return
	}
	for i := range t.parts {
		p := &t.parts[i]
		t.home.store(p.Data, p.Ld, t.row+p.Row, t.col+p.Col, p.Rows, p.Cols)
	}
}

// chargeTile charges the transfer of a tile: all CPEs that own a part work at once, and the time is that of the owner of the
// largest.
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
	stream, wait := g.transfer(rows*cols, 4*run, float64(values)/float64(run), put)
	for range each {
		g.step.request(stream, wait)
	}
	if !t.Single {
		g.step.compute += fromNs(s.ConvertNs(values * each))
	}
	g.count(4*t.rows*t.cols, (rows*cols)*each, put)
	if g.machine.tracing {
		g.movedTile(t, put)
	}
}

// Whole returns the extents of the block that the tile holds.
func (t *Tile) Whole() (rows, cols int) { return t.rows, t.cols }

// TakePlaced is Take for a tile that is placed, not got: natively it needs no LDM.
func (g *CoreGroup) TakePlaced(kernel string, t *Tile, rows, cols int) error {
	if !g.Native() {
		return g.Take(kernel, t, rows, cols)
	}
	if len(t.parts) != t.RowParts*t.ColParts {
		t.parts = make([]Part, t.RowParts*t.ColParts)
	}
	return nil
}
