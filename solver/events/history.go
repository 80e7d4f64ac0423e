package events

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// maxRows limits the rows of a curve in a History.
const maxRows = 2000

// ownColumns are the columns of the training net's curves, before those of its outputs.
var ownColumns = Columns{[]string{"loss", "smoothed_loss", "lr", "items_per_second", "data_wait"}, []bool{true, true, false, false, false}}

// testColumns are the columns of a test net's curves, before those of its outputs.
var testColumns = Columns{[]string{"loss"}, []bool{true}}

// lossColumn is the number of the loss in both.
const lossColumn = 0

// History keeps what a page shows of a run: its curves in a bounded number of points, the last snapshot and how it ended. Points of the training
// net are means of neighbours once there are too many; points of a test net are always results of a test. A resumed run
// continues the curves: points that it computes again replace the old ones. It may be used by several goroutines.
type History struct {
	mu      sync.Mutex
	begin   time.Time     // of the run's clock
	last    time.Time     // of the last event
	idle    time.Duration // time between a stop and a resumption
	changes int
	state   State
	train   *Table
	tests   []*Table // by test net
}

// State is the part of a History that is no curve.
type State struct {
	Started  *Started  `json:"started"`  // the last one; nil before it
	Began    time.Time `json:"began"`    // time of the last Started
	Seconds  float64   `json:"seconds"`  // running time of all parts
	Snapshot *Snapshot `json:"snapshot"` // the last one
	Stopped  *Stopped  `json:"stopped"`  // nil while the run goes on
	Crashed  *Crashed  `json:"crashed"`
}

// Take adds an event.
func (h *History) Take(e Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.changes++
	if started, ok := e.Body.(*Started); ok {
		h.start(e.Time, started)
	}
	if h.begin.IsZero() {
		h.begin = e.Time
	}
	h.last = e.Time
	h.state.Seconds = (e.Time.Sub(h.begin) - h.idle).Seconds()
	switch b := e.Body.(type) {
	case *Iteration:
		own := []Number{b.Loss, b.Smoothed, b.Rate, b.Speed, b.Wait}
		h.train = h.add(h.train, ownColumns, own, b.Iteration, b.Outputs, true)
		if !h.sound(b.Iteration) {
			for _, t := range h.tests { // the test before this iteration had the same weights
				if t != nil && t.holdsBest(b.Iteration) {
					t.marks.lose(b.Iteration, t.Rows, h.sound)
				}
			}
		}
	case *Test:
		for b.Net >= len(h.tests) {
			h.tests = append(h.tests, nil)
		}
		h.tests[b.Net] = h.add(h.tests[b.Net], testColumns, []Number{b.Loss}, b.Iteration, b.Outputs, false)
	case *Snapshot:
		h.state.Snapshot = b
	case *Stopped:
		h.state.Stopped = b
	case *Crashed:
		h.state.Crashed = b
	}
}

// start begins a run, or a part of a resumed one.
func (h *History) start(at time.Time, s *Started) {
	if s.Iteration == 0 {
		h.begin, h.idle = at, 0
	} else if !h.last.IsZero() && at.After(h.last) {
		h.idle += at.Sub(h.last)
	}
	for _, t := range append([]*Table{h.train}, h.tests...) {
		if t != nil {
			t.Cut(s.Iteration, h.sound)
		}
	}
	h.state = State{Started: s, Began: at, Snapshot: h.state.Snapshot}
}

// add adds a point to a table. It begins a new one if there is none with these columns.
func (h *History) add(t *Table, columns Columns, own []Number, iteration int, outputs []Value, train bool) *Table {
	names, losses, values := slices.Clone(columns.Names), slices.Clone(columns.Losses), make([]float64, 0, len(own)+len(outputs))
	for _, v := range own {
		values = append(values, float64(v))
	}
	for _, o := range outputs {
		names, losses, values = append(names, "output "+o.Name), append(losses, o.Weight != 0), append(values, float64(o.Value))
	}
	generation := 0
	if t != nil {
		generation = t.Generation
	}
	if t == nil || !slices.Equal(t.Names, names) {
		t = NewTable(maxRows, Columns{names, losses}, train)
		t.Generation = generation + 1
	}
	t.Add(iteration, h.state.Seconds, values, h.sound(iteration-1))
	return t
}

// sound reports whether the training net's loss was finite at an iteration, as far as it is known. A test net without a loss does not show that
// the weights are NaN.
func (h *History) sound(iteration int) bool {
	return h.train == nil || !h.train.marks.broken(lossColumn, iteration)
}

// State returns the part of the history that is no curve.
func (h *History) State() State {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state
}

// Changes returns a number that is higher after every event.
func (h *History) Changes() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.changes
}

// Place is how far a reader has read a table.
type Place struct {
	Generation, Rows int
}

// Part is a part of a History's table, for a reader that has the rows before it.
type Part struct {
	Table string   `json:"table"` // "train", "test 0" and so on
	From  int      `json:"from"`  // number of rows before it; the reader drops any others
	Names []string `json:"names"`
	Steps []int    `json:"iterations"`
	Times []Number `json:"seconds"`
	// Columns has a list of values for each name.
	Columns [][]Number `json:"columns"`
	Mean    int        `json:"mean"`   // points of which each row but the last is the mean; 1: rows are points
	Losses  []bool     `json:"losses"` // by column
	Best    []Best     `json:"best"`   // by column, of all points
	Breaks  []Break    `json:"breaks"` // of all points
}

// News returns the state and the parts of all tables after the places that a reader has read to, and updates the places. The last row is
// always sent again, because it may have changed.
func (h *History) News(places map[string]Place) (State, []Part) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var parts []Part
	visit := func(name string, t *Table) {
		if t == nil {
			return
		}
		old := places[name]
		now := Place{t.Generation, len(t.Rows)}
		from := 0
		if old.Generation == now.Generation {
			from = max(0, old.Rows-1)
		}
		places[name] = now
		parts = append(parts, t.part(name, from))
	}
	visit("train", h.train)
	for i, t := range h.tests {
		visit(fmt.Sprintf("test %d", i), t)
	}
	return h.state, parts
}

// part returns the rows from a number on, by columns.
func (t *Table) part(name string, from int) Part {
	p := Part{Table: name, From: from, Names: t.Names, Columns: make([][]Number, len(t.Names)), Mean: 1,
		Losses: t.marks.losses, Best: slices.Clone(t.marks.best), Breaks: slices.Clone(t.marks.breaks)}
	if t.means {
		p.Mean = t.Stride
	}
	for _, r := range t.Rows[from:] {
		p.Steps, p.Times = append(p.Steps, r.Iteration), append(p.Times, Number(r.Seconds))
		for i, v := range r.Values {
			p.Columns[i] = append(p.Columns[i], Number(v))
		}
	}
	return p
}
