package events

// Table keeps the points of curves with a common x axis. When it has too many rows, it joins each two neighbours to one and takes twice as
// many points in every later row, so that a run of any length fits.
type Table struct {
	Names      []string // of the columns
	Stride     int      // points in a full row
	Rows       []Row
	Generation int // changes when rows before the last one change
	limit      int
}

// Row is the mean of Count neighbouring points, at the place of the last.
type Row struct {
	Iteration int       // of the last point
	Seconds   float64   // its time since the run began
	Values    []float64 // a mean for each column; NaN if one of its points is NaN
	Count     int
}

// NewTable returns a table of at most limit rows, an even number.
func NewTable(limit int, names []string) *Table {
	if limit < 2 || limit%2 != 0 {
		panic("events: a table needs an even number of rows")
	}
	return &Table{Names: names, Stride: 1, limit: limit}
}

// Add adds a point. values has one value for each column.
func (t *Table) Add(iteration int, seconds float64, values []float64) {
	if len(values) != len(t.Names) {
		panic("events: a point has not as many values as its table has columns")
	}
	if n := len(t.Rows); n > 0 && t.Rows[n-1].Count < t.Stride {
		t.Rows[n-1].join(Row{iteration, seconds, values, 1})
		return
	}
	if len(t.Rows) == t.limit {
		t.halve()
	}
	t.Rows = append(t.Rows, Row{iteration, seconds, append([]float64(nil), values...), 1})
}

// join adds the points of a later row.
func (r *Row) join(later Row) {
	a, b := float64(r.Count), float64(later.Count)
	for i, v := range later.Values {
		r.Values[i] = (r.Values[i]*a + v*b) / (a + b)
	}
	r.Iteration, r.Seconds, r.Count = later.Iteration, later.Seconds, r.Count+later.Count
}

// halve joins each two neighbouring rows. All rows are full when it is called.
func (t *Table) halve() {
	for i := range t.limit / 2 {
		t.Rows[2*i].join(t.Rows[2*i+1])
		t.Rows[i] = t.Rows[2*i]
	}
	clear(t.Rows[t.limit/2:])
	t.Rows = t.Rows[:t.limit/2]
	t.Stride *= 2
	t.Generation++
}

// Cut removes the points at and after an iteration, which a resumed run computes again. A row that holds such points goes as a whole.
func (t *Table) Cut(iteration int) {
	n := len(t.Rows)
	for n > 0 && t.Rows[n-1].Iteration >= iteration {
		n--
	}
	if n < len(t.Rows) {
		t.Rows = t.Rows[:n]
		t.Generation++
	}
	if n == 0 {
		t.Stride = 1
	}
}
