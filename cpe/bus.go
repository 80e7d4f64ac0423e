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

// bus is the register buses of a mesh during one exchange: what each CPE has been sent along its row and column and
// has not received yet. Sending does not block; receiving what nobody sent would, and is an error.
type bus struct {
	rows, cols int
	row, col   []message // by CPE
}

type message struct {
	data []float32
	full bool
}

func (b *bus) init(s Spec) {
	b.rows, b.cols = s.Rows, s.Cols
	b.row, b.col = make([]message, s.CPEs()), make([]message, s.CPEs())
}

// RowBroadcast sends data from a CPE to all others of its row.
func (c *CPE) RowBroadcast(data []float32) {
	b := &c.group.bus
	for j := range b.cols {
		if j != c.Col {
			b.row[c.Row*b.cols+j] = message{data, true}
		}
	}
}

// ColBroadcast sends data from a CPE to all others of its column.
func (c *CPE) ColBroadcast(data []float32) {
	b := &c.group.bus
	for i := range b.rows {
		if i != c.Row {
			b.col[i*b.cols+c.Col] = message{data, true}
		}
	}
}

// RowReceive takes what was sent along the CPE's row. n is the number of values the CPE expects.
func (c *CPE) RowReceive(kernel string, n int) ([]float32, error) {
	return c.receive(kernel, &c.group.bus.row[c.Row*c.group.bus.cols+c.Col], "row", n)
}

// ColReceive takes what was sent along the CPE's column.
func (c *CPE) ColReceive(kernel string, n int) ([]float32, error) {
	return c.receive(kernel, &c.group.bus.col[c.Row*c.group.bus.cols+c.Col], "column", n)
}

// receive charges the transfer at this CPE's part of the group's broadcast bandwidth.
func (c *CPE) receive(kernel string, m *message, along string, n int) ([]float32, error) {
	if !m.full {
		return nil, &DeadlockError{kernel, c.Row, c.Col, fmt.Sprintf("it receives %d values along its %s, which nobody sends", n, along)}
	}
	data := m.data
	*m = message{}
	g := c.group
	s := g.Spec()
	ns := s.Bus.LatencyCycles/s.ClockGHz + float64(4*n)*float64(s.CPEs())/s.Bus.BroadcastGBps
	c.compute += fromNs(ns)
	g.ledger.Bus += fromNs(ns)
	g.ledger.BusBytes += int64(4 * n)
	return data, nil
}

// EndExchange checks that everything sent was received: a message left over would fill the FIFO of its CPE and stop
// the sender.
func (g *CoreGroup) EndExchange(kernel string) error {
	for i := range g.cpes {
		row, col := i/g.bus.cols, i%g.bus.cols
		if g.bus.row[i].full {
			return &DeadlockError{kernel, row, col, "it was sent values along its row that it never receives"}
		}
		if g.bus.col[i].full {
			return &DeadlockError{kernel, row, col, "it was sent values along its column that it never receives"}
		}
	}
	return nil
}
