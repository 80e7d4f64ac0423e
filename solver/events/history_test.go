package events

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// TestTableIsBounded: a million points fit, every row is the mean of its points, and no point is lost.
func TestTableIsBounded(t *testing.T) {
	for _, n := range []int{1, 5, 6, 7, 12, 13, 24, 1000000} {
		table := NewTable(6, Columns{[]string{"x"}, []bool{false}}, true)
		for i := range n {
			table.Add(i, float64(i)/2, []float64{float64(i)}, true)
		}
		next := 0
		for k, r := range table.Rows {
			first, last := next, next+r.Count-1
			if r.Iteration != last || r.Seconds != float64(last)/2 || math.Abs(r.Values[0]-float64(first+last)/2) > 1e-6*float64(n) {
				t.Fatalf("%d points: row %d of points %d to %d is %+v", n, k, first, last, r)
			}
			if k < len(table.Rows)-1 && r.Count != table.Stride {
				t.Errorf("%d points: row %d has %d points, the stride is %d", n, k, r.Count, table.Stride)
			}
			next += r.Count
		}
		if next != n || len(table.Rows) > 6 || n >= 6 && len(table.Rows) < 3 {
			t.Errorf("%d points: %d rows hold %d", n, len(table.Rows), next)
		}
	}
}

// TestTableShowsNaN: a single NaN marks its row, not its neighbours.
func TestTableShowsNaN(t *testing.T) {
	table := NewTable(4, Columns{[]string{"x"}, []bool{false}}, true)
	for i := range 8 {
		v := 1.0
		if i == 3 {
			v = math.NaN()
		}
		table.Add(i, 0, []float64{v}, true)
	}
	for k, r := range table.Rows {
		if math.IsNaN(r.Values[0]) != (k == 1) {
			t.Errorf("row %d of %d is %v", k, len(table.Rows), r.Values)
		}
	}
}

// feed publishes iterations from one number to another, with loss equal to the number.
func feed(h *History, at *time.Time, from, to int) {
	for i := from; i < to; i++ {
		*at = at.Add(time.Second)
		h.Take(Event{*at, &Iteration{Iteration: i, Loss: Number(i), Outputs: []Value{{Name: "loss", Value: Number(i)}}}})
	}
}

// reader keeps tables by the rules for readers of News.
type reader struct {
	places map[string]Place
	tables map[string]Part
	state  State
	rows   int // received
}

func (r *reader) read(t *testing.T, h *History) {
	t.Helper()
	state, parts := h.News(r.places)
	r.state = state
	for _, p := range parts {
		old := r.tables[p.Table]
		if p.From > len(old.Steps) {
			t.Fatalf("%s: part from row %d, the reader has %d", p.Table, p.From, len(old.Steps))
		}
		r.rows += len(p.Steps)
		p.Steps = append(append([]int{}, old.Steps[:p.From]...), p.Steps...)
		p.Times = append(append([]Number{}, old.Times[:p.From]...), p.Times...)
		for i := range p.Columns {
			if p.From > 0 {
				p.Columns[i] = append(append([]Number{}, old.Columns[i][:p.From]...), p.Columns[i]...)
			}
		}
		r.tables[p.Table] = p
	}
}

// TestNewsEqualsWhole: a reader that reads now and then has what a reader has that reads once, and does not receive all rows each time.
func TestNewsEqualsWhole(t *testing.T) {
	h, at := &History{}, testTime
	h.Take(Event{at, &Started{}})
	r := &reader{places: map[string]Place{}, tables: map[string]Part{}}
	for i := 0; i < 9000; i += 50 {
		feed(h, &at, i, i+50)
		if i%500 == 0 {
			h.Take(Event{at, &Test{Iteration: i, Net: 1, Loss: 7, Outputs: []Value{{Name: "a", Value: 1}}}})
		}
		r.read(t, h)
	}
	once := &reader{places: map[string]Place{}, tables: map[string]Part{}}
	once.read(t, h)
	for name, want := range once.tables {
		got := r.tables[name]
		got.From = 0
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s differs:\n%v\n%v", name, got, want)
		}
	}
	if steps := once.tables["train"].Steps; len(once.tables) != 2 || steps[len(steps)-1] != 8999 {
		t.Errorf("tables %v", once.tables)
	}
	if r.rows > 20000 {
		t.Errorf("%d rows were sent for 9000 points", r.rows)
	}
}

// TestResumedHistory: points after the snapshot are replaced, the pause counts as no time, and the end of the first part is forgotten.
func TestResumedHistory(t *testing.T) {
	h, at := &History{}, testTime
	r := &reader{places: map[string]Place{}, tables: map[string]Part{}}
	h.Take(Event{at, &Started{}})
	feed(h, &at, 0, 10)
	h.Take(Event{at, &Crashed{Iteration: 10, Error: "power"}})
	if r.read(t, h); r.state.Crashed == nil || r.state.Crashed.Error != "power" {
		t.Errorf("state %+v", r.state)
	}
	at = at.Add(time.Hour)
	h.Take(Event{at, &Started{Iteration: 8}})
	feed(h, &at, 8, 12)
	r.read(t, h)
	p := r.tables["train"]
	if got := fmt.Sprint(p.Steps, p.Times, p.Columns[0]); got != "[0 1 2 3 4 5 6 7 8 9 10 11] [1 2 3 4 5 6 7 8 11 12 13 14] [0 1 2 3 4 5 6 7 8 9 10 11]" {
		t.Error(got)
	}
	if r.state.Crashed != nil || r.state.Seconds != 14 || r.state.Started.Iteration != 8 {
		t.Errorf("state %+v", r.state)
	}
	h.Take(Event{at, &Started{}}) // from the beginning
	feed(h, &at, 0, 1)
	r.read(t, h)
	if p := r.tables["train"]; fmt.Sprint(p.Steps, p.Times) != "[0] [1]" {
		t.Errorf("a new run continues an old one: %v %v", p.Steps, p.Times)
	}
}

// TestOutputsChange: a run whose net has other outputs begins new curves.
func TestOutputsChange(t *testing.T) {
	h, at := &History{}, testTime
	r := &reader{places: map[string]Place{}, tables: map[string]Part{}}
	feed(h, &at, 0, 3)
	r.read(t, h)
	h.Take(Event{at, &Iteration{Iteration: 3, Outputs: []Value{{Name: "other"}}}})
	r.read(t, h)
	if p := r.tables["train"]; len(p.Steps) != 1 || p.Names[len(p.Names)-1] != "output other" {
		t.Errorf("%v %v", p.Names, p.Steps)
	}
}

// TestMarks: a history tells exactly where a curve became NaN or infinite and which value was the best, also when its rows are means. A test of a
// net that is not finite is never the best, and what a resumed run computes again is forgotten.
func TestMarks(t *testing.T) {
	h, at := &History{}, testTime
	take := func(b Body) {
		at = at.Add(time.Second)
		h.Take(Event{at, b})
	}
	iterate := func(from, to int, loss func(i int) float64) {
		for i := from; i < to; i++ {
			take(&Iteration{Iteration: i, Loss: Number(loss(i))})
			if i%1000 == 0 {
				take(&Test{Iteration: i, Outputs: []Value{{Name: "accuracy", Value: Number(float64(i%7000) / 7000)}, {Name: "loss", Value: Number(5 - float64(i%7000)/7000), Weight: 1}}})
			}
		}
	}
	read := func() map[string]Part {
		r := &reader{places: map[string]Place{}, tables: map[string]Part{}}
		r.read(t, h)
		return r.tables
	}
	falls := func(i int) float64 { return 100 / float64(i+1) }
	take(&Started{})
	iterate(0, 9000, falls)
	tables := read()
	if p := tables["train"]; p.Mean != 8 || len(p.Breaks) != 0 || p.Best[0] != (Best{8999, Number(falls(8999))}) || p.Columns[0][0] == 100 {
		t.Errorf("means of %d, breaks %v, best %v, first row %v", p.Mean, p.Breaks, p.Best, p.Columns[0][0])
	}
	if p := tables["test 0"]; fmt.Sprint(p.Mean, p.Best[1:], p.Losses) != fmt.Sprint(1, []Best{{6000, Number(6.0 / 7)}, {6000, 5 - Number(6.0/7)}}, []bool{true, false, true}) {
		t.Errorf("tests: means of %d, best %v, losses %v", p.Mean, p.Best, p.Losses)
	}

	nan := func(i int) float64 {
		switch {
		case i == 9100:
			return math.Inf(1)
		case i >= 9501:
			return math.NaN()
		}
		return falls(i)
	}
	iterate(9000, 9600, nan)
	take(&Test{Iteration: 9600, Outputs: []Value{{Name: "accuracy", Value: 1}, {Name: "loss", Value: 1, Weight: 1}}})
	tables = read()
	if got := fmt.Sprint(tables["train"].Breaks); got != "[{0 9100 9100 +Inf} {0 9501 9599 NaN}]" {
		t.Errorf("breaks %s", got)
	}
	if b := tables["test 0"].Best[1]; b.Iteration != 6000 {
		t.Errorf("a net whose loss is NaN has the best accuracy: %v", b)
	}

	take(&Started{Iteration: 9200})
	iterate(9200, 9300, falls)
	take(&Test{Iteration: 9300, Outputs: []Value{{Name: "accuracy", Value: 1}, {Name: "loss", Value: 1, Weight: 1}}})
	if tables = read(); fmt.Sprint(tables["train"].Breaks) != "[{0 9100 9100 +Inf}]" || tables["test 0"].Best[1] != (Best{9300, 1}) {
		t.Errorf("after the resumption: breaks %v, best %v", tables["train"].Breaks, tables["test 0"].Best)
	}
	iterate(9300, 9301, func(int) float64 { return math.NaN() }) // with the weights of that test
	if b := read()["test 0"].Best[1]; b.Iteration != 6000 {
		t.Errorf("the test before the first NaN has the best accuracy: %v", b)
	}
}

// TestManyBreaks: a loss that is NaN in every other iteration keeps the first breaks and the latest.
func TestManyBreaks(t *testing.T) {
	table := NewTable(10, Columns{[]string{"x"}, []bool{true}}, true)
	for i := range 1000 {
		v := float64(i)
		if i%2 == 1 {
			v = math.NaN()
		}
		table.Add(i, 0, []float64{v}, true)
	}
	if b := table.marks.breaks; len(b) != maxBreaks || b[0].From != 1 || b[1].From != 3 || b[maxBreaks-1].From != 999 {
		t.Errorf("%d breaks: %v", len(b), b)
	}
}

// TestTestsAreKept: of more tests than a table has room for, the points that stay are results of tests, not means.
func TestTestsAreKept(t *testing.T) {
	table := NewTable(6, Columns{[]string{"x"}, []bool{false}}, false)
	for i := range 1000 {
		table.Add(10*i, 0, []float64{float64(i)}, true)
	}
	for _, r := range table.Rows {
		if r.Values[0] != float64(r.Iteration/10) {
			t.Errorf("the test at iteration %d is %v", r.Iteration, r.Values[0])
		}
	}
}
