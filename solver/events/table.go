package events

import "slices"

// Table keeps the points of curves with a common x axis. When it has too many rows, it joins each two neighbours to one and takes twice as
// many points in every later row, so that a run of any length fits. Its marks are those of all points.
type Table struct {
	Names      []string // of the columns
	Stride     int      // points in a full row
	Rows       []Row
	Generation int // changes when rows before the last one change
	limit      int
	means      bool
	marks      marks
}

// Row is Count neighbouring points, at the place of the last.
type Row struct {
	Iteration int       // of the last point
	Seconds   float64   // its time since the run began
	Values    []float64 // of each column the last point's value or, in a table of means, the mean; NaN if one of its points is NaN
	Count     int
}

// Columns are the columns of a table.
type Columns struct {
	Names  []string
	Losses []bool // the lower, the better
}

// NewTable returns a table of at most limit rows, an even number. Its rows are means of points, or some of the points themselves.
func NewTable(limit int, columns Columns, means bool) *Table {
	if limit < 2 || limit%2 != 0 {
		panic("events: a table needs an even number of rows")
	}
	return &Table{Names: columns.Names, Stride: 1, limit: limit, means: means, marks: newMarks(len(columns.Names), columns.Losses)}
}

// Add adds a point. values has one value for each column. A point that does not count cannot have a best value.
func (t *Table) Add(iteration int, seconds float64, values []float64, counts bool) {
	if len(values) != len(t.Names) {
		panic("events: a point has not as many values as its table has columns")
	}
	t.marks.add(iteration, values, counts)
	if n := len(t.Rows); n > 0 && t.Rows[n-1].Count < t.Stride {
		t.join(&t.Rows[n-1], Row{iteration, seconds, values, 1})
		return
	}
	if len(t.Rows) == t.limit {
		t.halve()
	}
	t.Rows = append(t.Rows, Row{iteration, seconds, append([]float64(nil), values...), 1})
}

// join adds the points of a later row to a row.
func (t *Table) join(r *Row, later Row) {
	a, b := float64(r.Count), float64(later.Count)
	for i, v := range later.Values {
		if t.means {
			v = (r.Values[i]*a + v*b) / (a + b)
		}
		r.Values[i] = v
	}
	r.Iteration, r.Seconds, r.Count = later.Iteration, later.Seconds, r.Count+later.Count
}

// halve joins each two neighbouring rows. All rows are full when it is called.
func (t *Table) halve() {
	for i := range t.limit / 2 {
		t.join(&t.Rows[2*i], t.Rows[2*i+1])
		t.Rows[i] = t.Rows[2*i]
	}
	clear(t.Rows[t.limit/2:])
	t.Rows = t.Rows[:t.limit/2]
	t.Stride *= 2
	t.Generation++
}

// Cut removes the points at and after an iteration, which a resumed run computes again. A row that holds such points goes as a whole.
// counts says which points that are left can have a best value.
func (t *Table) Cut(iteration int, counts func(iteration int) bool) {
	n := len(t.Rows)
	for n > 0 && t.Rows[n-1].Iteration >= iteration {
		n--
	}
	if n < len(t.Rows) {
		t.Rows = t.Rows[:n]
		t.Generation++
	}
	t.marks.cut(iteration, t.Rows, counts)
	if n == 0 {
		t.Stride = 1
	}
}

// holdsBest reports whether an iteration has the best value of a column.
func (t *Table) holdsBest(iteration int) bool {
	return slices.ContainsFunc(t.marks.best, func(b Best) bool { return b.Iteration == iteration })
}
