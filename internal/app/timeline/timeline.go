// Package timeline records what happens when, for trace viewers: Perfetto and chrome://tracing.
//
// A Recorder collects spans on rows, and messages between workers. Write writes it in Chrome's trace event format: complete events ("ph": "X")
// with times in microseconds. Rows returns it for the page of a run; Uses says what each worker's time went to. A Parcel brings the spans of
// another process.
package timeline

import (
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
	mu       sync.Mutex
	rows     map[int]string
	lanes    map[lane]int
	spans    []Span
	calls    []Call
	messages []Message
	servers  map[int]bool // see Serve
	closed   bool
}

// Name names a row.
func (r *Recorder) Name(row int, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.setName(row, name)
}

func (r *Recorder) setName(row int, name string) {
	if r.rows == nil {
		r.rows = map[int]string{}
	}
	r.rows[row] = name
}

// Serve says that a row only answers others, so that it does not wait for them.
func (r *Recorder) Serve(row int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.servers == nil {
		r.servers = map[int]bool{}
	}
	r.servers[row] = true
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

// Process is a part of a trace with a time of its own.
type Process struct {
	Name string
	*Recorder
}

// Write writes a trace of processes, each with times relative to its first span's begin. note says something about it; "": nothing.
func Write(w io.Writer, note string, processes ...Process) error {
	var list []event
	for i, p := range processes {
		list = append(list, event{Name: "process_name", Phase: "M", Process: 1 + i, Args: map[string]any{"name": p.Name}})
		list = append(list, p.events(1+i)...)
	}
	trace := map[string]any{"displayTimeUnit": "ms", "traceEvents": list}
	if note != "" {
		trace["otherData"] = map[string]string{"note": note}
	}
	body, err := json.Marshal(trace)
	if err == nil {
		_, err = w.Write(body)
	}
	return err
}

// events lists the rows' names and the spans.
func (r *Recorder) events(process int) (list []event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.settle()
	for _, row := range slices.Sorted(maps.Keys(r.rows)) {
		list = append(list, event{Name: "thread_name", Phase: "M", Process: process, Thread: row, Args: map[string]any{"name": r.rows[row]}})
	}
	zero := r.begin()
	for _, s := range r.spans {
		took := microseconds(s.Took)
		list = append(list, event{Name: s.Name, Category: s.Category, Phase: "X", Time: microseconds(s.Begin.Sub(zero)), Duration: &took, Process: process, Thread: s.Row, Args: s.Notes})
	}
	return list
}

func microseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
