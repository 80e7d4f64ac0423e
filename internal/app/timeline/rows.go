package timeline

import (
	"cmp"
	"slices"
	"time"
)

// firstLane is the number of the first lane. Workers have smaller ones.
const firstLane = 1 << 16

// lane is a further row of a worker.
type lane struct {
	worker int
	name   string
}

// Lane returns the number of a further row of a worker, named "WORKER'S NAME: name".
func (r *Recorder) Lane(worker int, name string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lane(worker, name)
}

func (r *Recorder) lane(worker int, name string) int {
	at := lane{worker, name}
	if n, ok := r.lanes[at]; ok {
		return n
	}
	if r.lanes == nil {
		r.lanes = map[lane]int{}
	}
	n := firstLane + len(r.lanes)
	r.lanes[at] = n
	r.setName(n, r.name(worker)+": "+name)
	return n
}

// Row is a row with its spans, by their begin.
type Row struct {
	Name  string `json:"name"`
	Marks []Mark `json:"spans"`
}

// Mark is a span in milliseconds from the first span's begin.
type Mark struct {
	Name     string         `json:"name"`
	Category string         `json:"category"`
	Begin    float64        `json:"begin"`
	Took     float64        `json:"took"`
	Notes    map[string]any `json:"notes,omitempty"`
}

// Rows returns the rows: each worker, followed by its lanes by name. Rows without spans are left out.
func (r *Recorder) Rows() []Row {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settle()
	lanes := map[int]lane{}
	for l, n := range r.lanes {
		lanes[n] = l
	}
	place := func(row int) lane {
		if l, ok := lanes[row]; ok {
			return l
		}
		return lane{row, ""}
	}
	begin := r.begin()
	marks := map[int][]Mark{}
	var order []int
	for _, s := range r.spans {
		if marks[s.Row] == nil {
			order = append(order, s.Row)
		}
		marks[s.Row] = append(marks[s.Row], Mark{s.Name, s.Category, milliseconds(s.Begin.Sub(begin)), milliseconds(s.Took), s.Notes})
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := place(a), place(b)
		return cmp.Or(x.worker-y.worker, cmp.Compare(x.name, y.name))
	})
	list := make([]Row, 0, len(order))
	for _, n := range order {
		slices.SortStableFunc(marks[n], func(a, b Mark) int { return cmp.Compare(a.Begin, b.Begin) })
		list = append(list, Row{r.rows[n], marks[n]})
	}
	return list
}

// begin returns the first span's begin.
func (r *Recorder) begin() (first time.Time) {
	for _, s := range r.spans {
		if first.IsZero() || s.Begin.Before(first) {
			first = s.Begin
		}
	}
	return first
}

func milliseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
