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

// fifo is what a CPE has been sent along one of its buses and has not received: messages in the order of their arrival,
// without their senders, as on the chip.
type fifo struct{ queue [][]float32 }

func (f *fifo) push(data []float32) { f.queue = append(f.queue, data) }

func (f *fifo) pop() (data []float32, ok bool) {
	if len(f.queue) == 0 {
		return nil, false
	}
	data = f.queue[0]
	n := copy(f.queue, f.queue[1:])
	f.queue = f.queue[:n]
	return data, true
}

// RowSend sends values to the CPE in column col of the same row.
func (c *CPE) RowSend(col int, data []float32) { c.group.at(c.Row, col).fromRow.push(data) }

// ColSend sends values to the CPE in row row of the same column.
func (c *CPE) ColSend(row int, data []float32) { c.group.at(row, c.Col).fromCol.push(data) }

// RowBroadcast sends values to all other CPEs of the same row.
func (c *CPE) RowBroadcast(data []float32) {
	for col := range c.group.Spec().Cols {
		if col != c.Col {
			c.RowSend(col, data)
		}
	}
}

// ColBroadcast sends values to all other CPEs of the same column.
func (c *CPE) ColBroadcast(data []float32) {
	for row := range c.group.Spec().Rows {
		if row != c.Row {
			c.ColSend(row, data)
		}
	}
}

// RowReceive takes the oldest message that came along the row.
func (c *CPE) RowReceive(kernel string) ([]float32, error) {
	return c.receive(kernel, &c.fromRow, "row")
}

// ColReceive takes the oldest message that came along the column.
func (c *CPE) ColReceive(kernel string) ([]float32, error) {
	return c.receive(kernel, &c.fromCol, "column")
}

func (c *CPE) receive(kernel string, f *fifo, along string) ([]float32, error) {
	data, ok := f.pop()
	if !ok {
		return nil, &DeadlockError{kernel, c.Row, c.Col, "it receives along its " + along + ", where nobody sends"}
	}
	return data, nil
}

// EndExchange checks that everything sent was received. A message left over fills the FIFO of its CPE, and its sender
// stalls with the rest of it.
func (g *CoreGroup) EndExchange(kernel string) error {
	for _, c := range g.cpes {
		for along, f := range [...]*fifo{&c.fromRow, &c.fromCol} {
			if n := len(f.queue); n > 0 {
				values := 0
				for _, m := range f.queue {
					values += len(m)
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

// RowBroadcast has the owners of column q of a tile's parts send them along their rows: afterwards FromRow gives every
// CPE the part of its row.
func (g *CoreGroup) RowBroadcast(t *Tile, q int) {
	s := g.Spec()
	if s.Cols == 1 {
		return
	}
	g.chargeBroadcast(t.partRows*t.partCols, t.rows*t.Part(0, q).Cols*(s.Cols-1))
	if !g.Values() {
		return
	}
	for p := range t.RowParts {
		g.at(p%s.Rows, q%s.Cols).RowBroadcast(t.Part(p, q).Data)
	}
}

// ColBroadcast has the owners of row p of a tile's parts send them along their columns, for FromCol.
func (g *CoreGroup) ColBroadcast(t *Tile, p int) {
	s := g.Spec()
	if s.Rows == 1 {
		return
	}
	g.chargeBroadcast(t.partRows*t.partCols, t.Part(p, 0).Rows*t.cols*(s.Rows-1))
	if !g.Values() {
		return
	}
	for q := range t.ColParts {
		g.at(p%s.Rows, q%s.Cols).ColBroadcast(t.Part(p, q).Data)
	}
}

// FromRow returns the data of part (row, q) of a tile that was broadcast along rows: the CPE's own, or what it receives.
func (c *CPE) FromRow(kernel string, t *Tile, q int) ([]float32, error) {
	if q%c.group.Spec().Cols == c.Col {
		return t.Part(c.Row, q).Data, nil
	}
	return c.RowReceive(kernel)
}

// FromCol returns the data of part (p, column) of a tile that was broadcast along columns.
func (c *CPE) FromCol(kernel string, t *Tile, p int) ([]float32, error) {
	if p%c.group.Spec().Rows == c.Row {
		return t.Part(p, c.Col).Data, nil
	}
	return c.ColReceive(kernel)
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
