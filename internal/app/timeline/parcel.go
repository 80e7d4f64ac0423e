package timeline

import (
	"maps"
	"slices"
	"time"
)

// Parcel has what a recorder of another process knows, with times in nanoseconds of that process's clock since 1970.
type Parcel struct {
	Rows  map[int]string
	Spans []packedSpan
	Calls []packedCall
}

type packedSpan struct {
	Row            int
	Lane           string // "": the row itself
	Name, Category string
	Begin, Took    int64
	Notes          map[string]any
}

type packedCall struct {
	Call
	Begin, End int64 // in place of the call's
}

// Pack returns what the recorder knows so far. At the time now, this process's clock shows reading.
func (r *Recorder) Pack(now time.Time, reading int64) Parcel {
	r.mu.Lock()
	defer r.mu.Unlock()
	clock := func(t time.Time) int64 { return reading + int64(t.Sub(now)) }
	lanes := map[int]lane{}
	for l, n := range r.lanes {
		lanes[n] = l
	}
	p := Parcel{Rows: maps.Clone(r.rows)}
	maps.DeleteFunc(p.Rows, func(n int, _ string) bool { return n >= firstLane })
	for _, s := range r.spans {
		at, ok := lanes[s.Row]
		if !ok {
			at.worker = s.Row
		}
		p.Spans = append(p.Spans, packedSpan{at.worker, at.name, s.Name, s.Category, clock(s.Begin), int64(s.Took), s.Notes})
	}
	for _, c := range r.calls {
		p.Calls = append(p.Calls, packedCall{c, clock(c.Begin), clock(c.End)})
	}
	return p
}

// Unpack adds what another process's recorder knows. ahead is how far that process's clock is ahead of this one's.
func (r *Recorder) Unpack(p Parcel, ahead time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	clock := func(ns int64) time.Time { return time.Unix(0, ns-int64(ahead)) }
	for _, n := range slices.Sorted(maps.Keys(p.Rows)) {
		r.setName(n, p.Rows[n])
	}
	for _, s := range p.Spans {
		row := s.Row
		if s.Lane != "" {
			row = r.lane(s.Row, s.Lane)
		}
		r.spans = append(r.spans, Span{row, s.Name, s.Category, clock(s.Begin), time.Duration(s.Took), s.Notes})
	}
	for _, c := range p.Calls {
		c.Call.Begin, c.Call.End = clock(c.Begin), clock(c.End)
		r.calls = append(r.calls, c.Call)
	}
}
