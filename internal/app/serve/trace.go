package serve

import (
	"io"
	"sync"
	"time"

	"github.com/swcaffe/swcaffe/internal/app/timeline"
)

// Trace records when the first requests waited and ran, and when layers ran for them, for trace viewers. A nil Trace records nothing.
//
// Each session of a version has a row with its runs and, in them, their layers. Requests have the rows above: as many as there were at once.
type Trace struct {
	mu       sync.Mutex
	recorder timeline.Recorder
	left     int // requests
	rows     int // of sessions
	lanes    []time.Time
	full     chan struct{} // closed when the last request is recorded
}

// firstLane is the row of the first lane of requests, behind those of sessions.
const firstLane = 1000

// NewTrace returns a trace of a number of requests.
func NewTrace(requests int) *Trace { return &Trace{left: requests, full: make(chan struct{})} }

// Full returns a channel that is closed when all requests are recorded.
func (t *Trace) Full() <-chan struct{} { return t.full }

// Write writes the trace.
func (t *Trace) Write(w io.Writer) error {
	return timeline.Write(w, "", timeline.Process{Name: "swcaffe serve", Recorder: &t.recorder})
}

// row returns a row for a session.
func (t *Trace) row(name string) int {
	if t == nil {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.left == 0 {
		return 0
	}
	t.rows++
	t.recorder.Name(t.rows, name)
	return t.rows
}

// span records what a session did.
func (t *Trace) span(row int, name, category string, begun time.Time, notes map[string]any) {
	if t == nil {
		return
	}
	took := time.Since(begun)
	t.recorder.Add(timeline.Span{Row: row, Name: name, Category: category, Begin: begun, Took: took, Notes: notes})
}

// request records a request with a job. The last one ends the recording.
func (t *Trace) request(x *Visit) {
	if t == nil || x.entered.IsZero() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.left == 0 {
		return
	}
	lane, end := t.lane(x.Begun), time.Now()
	notes := map[string]any{"status": x.Status, "items": x.Items, "batch": x.Batch, "bytes_in": x.Read, "bytes_out": x.Wrote}
	t.recorder.Add(timeline.Span{Row: lane, Name: x.Model + "/" + x.Version, Category: "request", Begin: x.Begun, Took: end.Sub(x.Begun), Notes: notes})
	if !x.began.IsZero() {
		t.recorder.Add(timeline.Span{Row: lane, Name: "queue", Category: "request", Begin: x.entered, Took: x.began.Sub(x.entered)})
		t.recorder.Add(timeline.Span{Row: lane, Name: "run", Category: "request", Begin: x.began, Took: time.Duration(x.Run * float64(time.Millisecond))})
	}
	t.lanes[lane-firstLane] = end
	if t.left--; t.left == 0 {
		t.recorder.Close()
		close(t.full)
	}
}

// lane returns a row of which all requests ended before a time.
func (t *Trace) lane(begun time.Time) int {
	for i, end := range t.lanes {
		if !end.After(begun) {
			return firstLane + i
		}
	}
	t.lanes = append(t.lanes, time.Time{})
	t.recorder.Name(firstLane+len(t.lanes)-1, "requests")
	return firstLane + len(t.lanes) - 1
}
