package timeline

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Use says what a worker's time in the recorded iterations went to, in milliseconds. What is left of the whole is neither of the parts: the log,
// for instance.
type Use struct {
	Name          string   `json:"name"`
	Whole         float64  `json:"whole"`
	Computing     float64  `json:"computing"`     // layers and updates
	Waiting       float64  `json:"waiting"`       // for other workers, while the worker does nothing else
	Communicating float64  `json:"communicating"` // the rest of the exchange with them
	For           []Waited `json:"for"`           // whom it waited for
}

// Waited is how long a worker waited for another, in milliseconds.
type Waited struct {
	Name string  `json:"name"`
	Took float64 `json:"took"`
}

// Uses lists the uses of the workers that exchange anything. Waiting beside computing, as buckets of gradients do, counts as computing.
func (r *Recorder) Uses() []Use {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settle()
	accounts, lanes := map[int]*account{}, map[int]lane{}
	for l, n := range r.lanes {
		lanes[n] = l
	}
	of := func(worker int) *account {
		if accounts[worker] == nil {
			accounts[worker] = &account{Use: Use{Name: r.name(worker), For: []Waited{}}}
		}
		return accounts[worker]
	}
	for _, s := range r.spans {
		took := milliseconds(s.Took)
		switch s.Category {
		case "iteration":
			of(s.Row).Whole += took
		case "forward", "backward", "update":
			if s.Row < firstLane {
				of(s.Row).Computing += took
			}
		case "exchange":
			if s.Row < firstLane {
				a := of(s.Row)
				a.exchanges = append(a.exchanges, stretch{begin: s.Begin, end: s.Begin.Add(s.Took)})
			}
		case CategoryWait:
			if l, ok := lanes[s.Row]; ok {
				a := of(l.worker)
				a.waits = append(a.waits, stretch{s.Begin, s.Begin.Add(s.Took), s.Notes["for"].(int)})
			}
		}
	}
	var list []Use
	for _, worker := range slices.Sorted(maps.Keys(accounts)) {
		if a := accounts[worker]; len(a.exchanges) > 0 {
			a.settle(r.name)
			list = append(list, a.Use)
		}
	}
	return list
}

// account collects a worker's use, its exchanges with others and its waits for them.
type account struct {
	Use
	exchanges, waits []stretch
}

// settle divides the time of the exchanges into waiting and communicating.
func (a *account) settle(name func(worker int) string) {
	for _, e := range a.exchanges {
		a.Communicating += milliseconds(e.end.Sub(e.begin))
	}
	peers := map[int]float64{}
	for _, w := range a.waits {
		peers[w.peer] += milliseconds(overlap(w, a.exchanges))
	}
	for peer, took := range peers {
		a.Waiting += took
		if took > 0 {
			a.For = append(a.For, Waited{name(peer), took})
		}
	}
	a.Communicating -= a.Waiting
	slices.SortFunc(a.For, func(x, y Waited) int { return cmp.Or(cmp.Compare(y.Took, x.Took), cmp.Compare(x.Name, y.Name)) })
}

// overlap is the time that a stretch shares with others, which do not overlap each other.
func overlap(s stretch, others []stretch) (d time.Duration) {
	for _, o := range others {
		d += max(0, earlier(s.end, o.end).Sub(later(s.begin, o.begin)))
	}
	return d
}
