package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/swcaffe/swcaffe/internal/cli"
	"github.com/swcaffe/swcaffe/internal/page"
	"github.com/swcaffe/swcaffe/internal/timeline"
	"github.com/swcaffe/swcaffe/solver/events"
)

// tracer records when things happen in iterations of all workers of this process, while a capture asks for it: that of -trace for the first
// iterations, that of a page for the next one.
type tracer struct {
	mu       sync.Mutex
	rows     []*row
	latest   int        // the last iteration that a row has begun; -1: none
	captures []*capture // that are not complete
	last     time.Time  // of the last event
	file     *capture   // of -trace; nil: none
}

// capture records some iterations.
type capture struct {
	recorder timeline.Recorder // in real time
	modelled timeline.Recorder // in the time of a modelled machine
	from     int               // first iteration; -1: the first that a row begins
	count    int
	active   int    // rows that are not done
	done     func() // called when the last row is done, or when the run ends
	once     sync.Once
	over     bool // the first worker's row is done
}

func newTracer() *tracer { return &tracer{latest: -1} }

// write adds the capture of -trace, which writes a file.
func (t *tracer) write(e *cli.Env, path string, iterations int) {
	c := &capture{from: -1, count: iterations}
	c.done = func() { // a failure does not end the run
		err := e.CreateFile(path, func(w io.Writer) error {
			_, err := c.recorder.WriteTo(w)
			return err
		})
		if err != nil {
			e.Log.Warnf("-trace %v; training goes on", err)
		}
	}
	t.file = c
	t.captures = append(t.captures, c)
}

// Timeline records the next iteration for a page.
func (t *tracer) Timeline(ctx context.Context) (*page.Timeline, error) {
	ready := make(chan struct{})
	c := &capture{from: -1, count: 1, done: func() { close(ready) }}
	t.mu.Lock()
	if t.latest >= 0 {
		c.from = t.latest + 1
	}
	for _, r := range t.rows {
		c.add(r)
	}
	t.captures = append(t.captures, c)
	t.mu.Unlock()
	select {
	case <-ready:
	case <-ctx.Done():
		t.drop(c)
		return nil, ctx.Err()
	}
	c.recorder.Close()
	if !c.over {
		return nil, errors.New("the run has ended")
	}
	return &page.Timeline{Iteration: c.from, Rows: c.recorder.Rows(), Modelled: c.modelled.Rows()}, nil
}

// add makes a row part of the capture.
func (c *capture) add(r *row) {
	c.recorder.Name(r.rank, r.name)
	c.modelled.Name(r.rank, r.name)
	c.active++
}

// drop forgets a capture.
func (t *tracer) drop(c *capture) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.captures = slices.DeleteFunc(t.captures, func(o *capture) bool { return o == c })
}

// join adds a row.
func (t *tracer) join(r *row) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows = append(t.rows, r)
	for _, c := range t.captures {
		c.add(r)
	}
}

// begun returns the captures that want an iteration.
func (t *tracer) begun(iteration int) (list []*capture) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.latest = max(t.latest, iteration)
	for _, c := range t.captures {
		if c.from < 0 {
			c.from = iteration
		}
		if c.from <= iteration && iteration < c.from+c.count {
			list = append(list, c)
		}
	}
	return list
}

// ended tells a capture that a row has recorded an iteration. The last row ends it.
func (t *tracer) ended(c *capture, rank, iteration int) {
	t.mu.Lock()
	last := iteration == c.from+c.count-1
	if last {
		c.over = c.over || rank == 0
		c.active--
	}
	last = last && c.active == 0
	t.mu.Unlock()
	if last {
		t.drop(c)
		c.once.Do(c.done)
	}
}

// take records the first worker's tests and snapshots for the file. They begin with the event before.
func (t *tracer) take(e events.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file == nil || t.file.over {
		return
	}
	name := ""
	switch b := e.Body.(type) {
	case *events.Test:
		name = fmt.Sprintf("test net %d", b.Net)
	case *events.Snapshot:
		name = "snapshot"
	}
	if name != "" && !t.last.IsZero() {
		t.file.recorder.Add(timeline.Span{Name: name, Category: e.Kind(), Begin: t.last, Took: e.Time.Sub(t.last)})
	}
	t.last = e.Time
}

// end completes the captures of a run that ends before their iterations.
func (t *tracer) end() error {
	t.mu.Lock()
	rest := t.captures
	t.captures = nil
	t.mu.Unlock()
	for _, c := range rest {
		c.once.Do(c.done)
	}
	return nil
}
