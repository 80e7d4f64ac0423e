// Package timeline records what happens when, for trace viewers: Perfetto and chrome://tracing.
//
// A Recorder collects spans on rows and writes them in Chrome's trace event format: complete events ("ph": "X") with times in microseconds. Rows
// returns them for the page of a run.
package timeline

import (
	"bufio"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"sync"
	"time"
)

// Span is something that took time.
type Span struct {
	Row      int // a worker's rank
	Name     string
	Category string
	Begin    time.Time
	Took     time.Duration
	Notes    map[string]any // shown with the span
}

// Recorder collects spans. It may be used by several goroutines.
type Recorder struct {
	mu     sync.Mutex
	rows   map[int]string
	lanes  map[lane]int
	spans  []Span
	closed bool
}

// Name names a row.
func (r *Recorder) Name(row int, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rows == nil {
		r.rows = map[int]string{}
	}
	r.rows[row] = name
}

// Add adds a span.
func (r *Recorder) Add(s Span) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.spans = append(r.spans, s)
	}
}

// Close makes later calls of Add do nothing.
func (r *Recorder) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
}

// event is an event of the format. Times are in microseconds.
type event struct {
	Name     string         `json:"name"`
	Category string         `json:"cat,omitempty"`
	Phase    string         `json:"ph"`
	Time     float64        `json:"ts"`
	Duration *float64       `json:"dur,omitempty"`
	Process  int            `json:"pid"`
	Thread   int            `json:"tid"`
	Args     map[string]any `json:"args,omitempty"`
}

// WriteTo writes the trace. Times are relative to the first span's begin.
func (r *Recorder) WriteTo(w io.Writer) (int64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := []event{{Name: "process_name", Phase: "M", Process: 1, Args: map[string]any{"name": "swcaffe train"}}}
	for _, row := range slices.Sorted(maps.Keys(r.rows)) {
		list = append(list, event{Name: "thread_name", Phase: "M", Process: 1, Thread: row, Args: map[string]any{"name": r.rows[row]}})
	}
	zero := r.begin()
	for _, s := range r.spans {
		took := microseconds(s.Took)
		list = append(list, event{Name: s.Name, Category: s.Category, Phase: "X", Time: microseconds(s.Begin.Sub(zero)), Duration: &took, Process: 1, Thread: s.Row, Args: s.Notes})
	}
	body, err := json.Marshal(map[string]any{"displayTimeUnit": "ms", "traceEvents": list})
	if err != nil {
		return 0, err
	}
	out := bufio.NewWriter(w)
	n, err := out.Write(body)
	if err == nil {
		err = out.Flush()
	}
	return int64(n), err
}

func microseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
