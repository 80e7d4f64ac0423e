package cpe

import "fmt"

// DeadlockError says that a CPE waits for register traffic that nobody sends, or sends what nobody takes.
type DeadlockError struct {
	Kernel   string
	Row, Col int
	What     string
}

func (e *DeadlockError) Error() string {
	return fmt.Sprintf("kernel %s: CPE (%d,%d) would wait for ever: %s", e.Kernel, e.Row, e.Col, e.What)
}

// message is what a CPE sends: values, or its part of a tile, whose values stay in the tile.
type message struct {
	data []float32
	part *Part
}

// values is the length of a message.
func (m *message) values() int {
	if m.part != nil {
		return m.part.Rows * m.part.Cols
	}
	return len(m.data)
}

// fifo is what a CPE has been sent along one of its buses and has not received: messages in the order of their arrival,
// without their senders, as on the chip.
type fifo struct{ queue []message }

func (f *fifo) push(m message) { f.queue = append(f.queue, m) }

func (f *fifo) pop() (m message, ok bool) {
	if len(f.queue) == 0 {
		return m, false
	}
	m = f.queue[0]
	n := copy(f.queue, f.queue[1:])
	f.queue = f.queue[:n]
	return m, true
}

// RowSend sends values to the CPE in column col of the same row.
func (c *CPE) RowSend(col int, data []float32) {
	c.group.at(c.Row, col).fromRow.push(message{data: data})
}

// ColSend sends values to the CPE in row row of the same column.
func (c *CPE) ColSend(row int, data []float32) {
	c.group.at(row, c.Col).fromCol.push(message{data: data})
}

// RowBroadcast sends values to all other CPEs of the same row.
func (c *CPE) RowBroadcast(data []float32) { c.alongRow(message{data: data}) }

// ColBroadcast sends values to all other CPEs of the same column.
func (c *CPE) ColBroadcast(data []float32) { c.alongCol(message{data: data}) }

func (c *CPE) alongRow(m message) {
	for col := range c.group.Spec().Cols {
		if col != c.Col {
			c.group.at(c.Row, col).fromRow.push(m)
		}
	}
}

func (c *CPE) alongCol(m message) {
	for row := range c.group.Spec().Rows {
		if row != c.Row {
			c.group.at(row, c.Col).fromCol.push(m)
		}
	}
}

// RowReceive takes the oldest message that came along the row.
func (c *CPE) RowReceive(kernel string) ([]float32, error) {
	m, err := c.receive(kernel, &c.fromRow, "row")
	return m.data, err
}

// ColReceive takes the oldest message that came along the column.
func (c *CPE) ColReceive(kernel string) ([]float32, error) {
	m, err := c.receive(kernel, &c.fromCol, "column")
	return m.data, err
}

func (c *CPE) receive(kernel string, f *fifo, along string) (message, error) {
	m, ok := f.pop()
	if !ok {
		return m, &DeadlockError{kernel, c.Row, c.Col, "it receives along its " + along + ", where nobody sends"}
	}
	return m, nil
}

// EndExchange checks that everything sent was received. A message left over fills the FIFO of its CPE, and its sender
// stalls with the rest of it.
func (g *CoreGroup) EndExchange(kernel string) error {
	for _, c := range g.cpes {
		for along, f := range [...]*fifo{&c.fromRow, &c.fromCol} {
			if n := len(f.queue); n > 0 {
				values := 0
				for i := range f.queue {
					values += f.queue[i].values()
				}
				f.queue = f.queue[:0]
				bus := &g.Spec().Bus
				return &DeadlockError{kernel, c.Row, c.Col, fmt.Sprintf("%d messages of %d bytes along its %s are never received, and their senders stall at a FIFO of %d words of %d bytes",
					n, values*bus.valueBytes(), [...]string{"row", "column"}[along], bus.FIFODepth, bus.WordBytes)}
			}
		}
	}
	return nil
}

// Exchange does step t of a product of tiles a and b: the owners of column t of a's parts send them along their rows, those of row
// t of b's along their columns, and every CPE takes what its part of the product needs.
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
	return g.EndExchange(kernel)
}

// expect takes a part of a tile from a bus, unless the CPE is the owner: at and owner are their places along it.
func (c *CPE) expect(kernel string, p *Part, f *fifo, at, owner int, along string) error {
	if at == owner {
		return nil
	}
	m, err := c.receive(kernel, f, along)
	if err == nil && m.part != p {
		err = fmt.Errorf("kernel %s: CPE (%d,%d) receives values along its %s that are not those it multiplies", kernel, c.Row, c.Col, along)
	}
	return err
}

// rowBroadcast has the owners of column q of a tile's parts send them along their rows.
func (g *CoreGroup) rowBroadcast(t *Tile, q int) {
	s := g.Spec()
	if s.Cols == 1 {
		return
	}
	g.chargeBroadcast(t.partRows*t.partCols, t.rows*t.Part(0, q).Cols*(s.Cols-1))
	if !g.Values() {
		return
	}
	for p := range t.RowParts {
		g.at(p%s.Rows, q%s.Cols).alongRow(message{part: t.Part(p, q)})
	}
}

// colBroadcast has the owners of row p of a tile's parts send them along their columns.
func (g *CoreGroup) colBroadcast(t *Tile, p int) {
	s := g.Spec()
	if s.Rows == 1 {
		return
	}
	g.chargeBroadcast(t.partRows*t.partCols, t.Part(p, 0).Rows*t.cols*(s.Rows-1))
	if !g.Values() {
		return
	}
	for q := range t.ColParts {
		g.at(p%s.Rows, q%s.Cols).alongCol(message{part: t.Part(p, q)})
	}
}

// chargeBroadcast charges what every CPE receives at its part of the group's broadcast bandwidth, after the buses'
// latency if that is not among the pipe's cycles. Values travel in double precision where the machine computes in it.
func (g *CoreGroup) chargeBroadcast(values, received int) {
	s := g.Spec()
	bytes := s.Bus.valueBytes() * values
	g.step.bus += fromNs(float64(bytes*s.CPEs()) / s.Bus.BroadcastGBps)
	if s.Pipe.StepCycles == 0 {
		g.step.busLatency += s.cycles(s.Bus.LatencyCycles)
	}
	g.ledger.BusBytes += int64(s.Bus.valueBytes() * received)
}
