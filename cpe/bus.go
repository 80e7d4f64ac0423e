package cpe

import "fmt"

// DeadlockError reports a CPE that waits for register traffic that no CPE sends, or sends traffic that no CPE receives.
type DeadlockError struct {
	Kernel   string
	Row, Col int
	What     string
}

func (e *DeadlockError) Error() string {
	return fmt.Sprintf("kernel %s: CPE (%d,%d) would wait for ever: %s", e.Kernel, e.Row, e.Col, e.What)
}

// fifo holds the parts of tiles that a CPE was sent along one of its buses and has not received yet, in order of arrival. As on the chip, it
// does not record the sender. The parts' values are not copied.
type fifo struct{ queue []*Part }

func (f *fifo) push(p *Part) { f.queue = append(f.queue, p) }

// pop removes and returns the oldest part, nil if there is none.
func (f *fifo) pop() *Part {
	if len(f.queue) == 0 {
		return nil
	}
	p := f.queue[0]
	n := copy(f.queue, f.queue[1:])
	f.queue = f.queue[:n]
	return p
}

// alongRow sends a part to all other CPEs of the same row.
func (c *CPE) alongRow(p *Part) {
	for col := range c.group.Spec().Cols {
		if col != c.Col {
			c.group.at(c.Row, col).fromRow.push(p)
		}
	}
}

// alongCol sends a part to all other CPEs of the same column.
func (c *CPE) alongCol(p *Part) {
	for row := range c.group.Spec().Rows {
		if row != c.Row {
			c.group.at(row, c.Col).fromCol.push(p)
		}
	}
}

// endExchange checks that every part that was sent has been received. A part left over would fill its CPE's FIFO, and its sender would stall.
func (g *CoreGroup) endExchange(kernel string) error {
	for _, c := range g.cpes {
		for along, f := range [...]*fifo{&c.fromRow, &c.fromCol} {
			if n := len(f.queue); n > 0 {
				values := 0
				for _, p := range f.queue {
					values += p.Rows * p.Cols
				}
				f.queue = f.queue[:0]
				bus := &g.Spec().Bus
				if g.Spec().HasRMA() {
					return &DeadlockError{kernel, c.Row, c.Col, fmt.Sprintf("%d messages of %d bytes along its %s are never received, and their buffers in LDM stay taken",
						n, values*bus.valueBytes(), [...]string{"row", "column"}[along])}
				}
				return &DeadlockError{kernel, c.Row, c.Col, fmt.Sprintf("%d messages of %d bytes along its %s are never received, and their senders stall at a FIFO of %d words of %d bytes",
					n, values*bus.valueBytes(), [...]string{"row", "column"}[along], bus.FIFODepth, bus.WordBytes)}
			}
		}
	}
	return nil
}

// Exchange communicates the operands of step t of a product of tiles a and b: the owners of column t of a's parts send them along their mesh
// rows, the owners of row t of b's parts along their columns, and every CPE receives the two parts for its product.
func (g *CoreGroup) Exchange(kernel string, a, b *Tile, t int) error {
	g.rowBroadcast(a, t)
	g.colBroadcast(b, t)
	if s := g.Spec(); !g.Values() || s.Rows*s.Cols == 1 {
		return nil
	}
	for _, c := range g.cpes {
		if err := c.expect(kernel, a.Part(c.Row, t), &c.fromRow, c.Col, t%g.Spec().Cols, "row"); err != nil {
			return err
		}
		if err := c.expect(kernel, b.Part(t, c.Col), &c.fromCol, c.Row, t%g.Spec().Rows, "column"); err != nil {
			return err
		}
	}
	return g.endExchange(kernel)
}

// expect receives a part of a tile from a bus, unless the CPE owns the part. at and owner are the positions of the CPE and of the owner along
// the bus.
func (c *CPE) expect(kernel string, p *Part, f *fifo, at, owner int, along string) error {
	if at == owner {
		return nil
	}
	switch f.pop() {
	case p:
		return nil
	case nil:
		return &DeadlockError{kernel, c.Row, c.Col, "it receives along its " + along + ", where nobody sends"}
	}
	return fmt.Errorf("kernel %s: CPE (%d,%d) receives a part along its %s that is not the operand of its product", kernel, c.Row, c.Col, along)
}

// rowBroadcast has the owners of column q of a tile's parts send them along their rows.
func (g *CoreGroup) rowBroadcast(t *Tile, q int) {
	s := g.Spec()
	if s.Cols == 1 {
		return
	}
	g.chargeBroadcast(t.partRows*t.partCols, t.rows*t.Part(0, q).Cols*(s.Cols-1), 0, s.Cols-1)
	if !g.Values() {
		return
	}
	for p := range t.RowParts {
		g.at(p%s.Rows, q%s.Cols).alongRow(t.Part(p, q))
	}
}

// colBroadcast has the owners of row p of a tile's parts send them along their columns.
func (g *CoreGroup) colBroadcast(t *Tile, p int) {
	s := g.Spec()
	if s.Rows == 1 {
		return
	}
	g.chargeBroadcast(t.partRows*t.partCols, t.Part(p, 0).Rows*t.cols*(s.Rows-1), s.Rows-1, 0)
	if !g.Values() {
		return
	}
	for q := range t.ColParts {
		g.at(p%s.Rows, q%s.Cols).alongCol(t.Part(p, q))
	}
}

// chargeBroadcast charges the values that every CPE receives from one rows and columns away at most: with RMA, the owner's requests to all
// others and the latency of the last one; else their share of the group's broadcast bandwidth, plus the buses' latency unless the pipe's
// cycles include it. Values travel in double precision if the machine computes in it.
func (g *CoreGroup) chargeBroadcast(values, received, rows, cols int) {
	s := g.Spec()
	bytes := s.Bus.valueBytes() * values
	g.ledger.BusBytes += int64(s.Bus.valueBytes() * received)
	if s.HasRMA() {
		g.step.bus += fromNs(s.sendNs(bytes, rows, cols))
		g.step.busLatency += s.cycles(s.RMALatency(rows, cols))
		return
	}
	g.step.bus += fromNs(float64(bytes*s.CPEs()) / s.Bus.BroadcastGBps)
	if s.Pipe.StepCycles == 0 {
		g.step.busLatency += s.cycles(s.Bus.LatencyCycles)
	}
}
