package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/app/page"
	"github.com/swcaffe/swcaffe/internal/app/timeline"
	"github.com/swcaffe/swcaffe/modeltime/trust"
	"github.com/swcaffe/swcaffe/solver/events"
)

// tracer records when things happen in iterations of all workers of this process, while a capture asks for it: that of -trace for the first
// iterations, that of a page for the next one. ranks adds those of other processes.
type tracer struct {
	first    int // the first rank of this process
	mu       sync.Mutex
	rows     []*row
	taps     map[int]*tap // by rank
	latest   int          // the last iteration that a row has begun; -1: none
	captures []*capture   // that are not complete
	gathered []*capture   // of which parts of other processes are coming
	last     time.Time    // of the last event
	file     *capture     // of -trace; nil: none
	save     func(c *capture)
	ranks    *ranks       // the other processes; nil: none
	wire     trust.Spread // of the modelled cluster; nil: none, or nothing is known of it
	work     sync.WaitGroup
}

// capture records some iterations.
type capture struct {
	id       int               // by which processes know it
	recorder timeline.Recorder // in real time
	modelled timeline.Recorder // in the time of a modelled machine or cluster
	from     int               // first iteration; -1: the first that a row begins
	count    int
	active   int    // rows that are not done
	done     func() // called when the last row is done, or when the run ends
	once     sync.Once
	begun    bool   // a row records it, or has
	over     bool   // the first rank's row is done
	note     string // about other processes
	stale    bool   // another one takes its place
}

func newTracer(first int) *tracer { return &tracer{first: first, latest: -1, taps: map[int]*tap{}} }

// fileCapture is the number of the capture of -trace. Those of pages follow.
const fileCapture = 0

// write adds the capture of -trace, which writes a file.
func (t *tracer) write(e *cli.Env, path string, iterations int) {
	t.keep(iterations, func(c *capture) { // a failure does not end the run
		c.recorder.Close()
		c.modelled.Close()
		err := e.CreateFile(path, func(w io.Writer) error {
			parts := []timeline.Process{{Name: "swcaffe train", Recorder: &c.recorder}}
			if len(c.modelled.Rows()) > 0 {
				parts = append(parts, timeline.Process{Name: "in modelled time", Recorder: &c.modelled})
			}
			return timeline.Write(w, c.note, parts...)
		})
		if err != nil {
			e.Log.Warnf("-trace %v; training goes on", err)
		}
	})
}

// assist adds the part of this process in the file that the first one writes.
func (t *tracer) assist(iterations int) { t.keep(iterations, func(*capture) {}) }

// keep adds a capture for the file.
func (t *tracer) keep(iterations int, save func(c *capture)) {
	c := &capture{id: fileCapture, from: -1, count: iterations}
	c.done = func() { save(c) }
	t.file, t.save = c, save
	t.captures = append(t.captures, c)
}

// restart follows a new team of workers, in which the first one of this process has a rank. Captures that are under way end; that of -trace begins anew if it
// was not complete. Other processes than the first take part in any case, since a new first one may write the file again.
func (t *tracer) restart(rank int) {
	t.mu.Lock()
	rest, file := t.captures, t.file
	t.captures, t.rows, t.taps, t.ranks, t.latest, t.first = nil, nil, map[int]*tap{}, nil, -1, rank
	if file != nil && (rank != 0 || slices.Contains(rest, file) || slices.Contains(t.gathered, file)) {
		file.stale = true
		t.keep(file.count, t.save)
	}
	t.mu.Unlock()
	for _, c := range rest {
		if c != file {
			t.complete(c)
		}
	}
}

// Timeline records the next iteration for a page.
func (t *tracer) Timeline(ctx context.Context) (*page.Timeline, error) {
	ready := make(chan struct{})
	c := &capture{from: -1, count: 1, done: func() { close(ready) }}
	t.open(c)
	select {
	case <-ready:
	case <-ctx.Done():
		if t.ranks == nil { // otherwise the other processes will send their parts
			t.drop(c)
		}
		return nil, ctx.Err()
	}
	c.recorder.Close()
	c.modelled.Close()
	if !c.over {
		return nil, errors.New("the iteration was not completed: the run has ended, or a worker was lost")
	}
	return &page.Timeline{
		Iteration: c.from, Rows: c.recorder.Rows(), Uses: c.recorder.Uses(), Note: c.note, Modelled: c.modelled.Rows(), ModelledUses: c.modelled.Uses(),
	}, nil
}

// open begins a capture, of the next iteration if it says no other.
func (t *tracer) open(c *capture) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.from < 0 && t.latest >= 0 {
		c.from = t.latest + 1
	}
	if t.ranks != nil && t.first == 0 {
		c.from++ // other processes must hear of it first
		c.id = t.ranks.ask(c.from, c.count)
	}
	for _, r := range t.rows {
		c.add(r)
	}
	t.captures = append(t.captures, c)
}

// add makes a row part of the capture.
func (c *capture) add(r *row) {
	for _, rec := range []*timeline.Recorder{&c.recorder, &c.modelled} {
		rec.Name(r.rank, r.name)
		if r.centre > 0 {
			rec.Name(r.centre, "centre")
			rec.Serve(r.centre)
		}
	}
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
	t.ranks.poll()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.latest = max(t.latest, iteration)
	for _, c := range t.captures {
		if !c.begun && c.from < iteration {
			c.from = iteration
		}
		if c.from <= iteration && iteration < c.from+c.count {
			c.begun = true
			list = append(list, c)
		}
	}
	return list
}

// ended tells a capture that a row has recorded an iteration. The last row ends it.
func (t *tracer) ended(c *capture, r *row, iteration int) {
	t.mu.Lock()
	last := iteration == c.from+c.count-1
	if last {
		c.over = c.over || r.rank == t.first
		c.active--
	}
	last = last && c.active == 0
	t.mu.Unlock()
	if last {
		t.complete(c)
	}
}

// complete ends a capture. Parts of other processes are waited for beside the training.
func (t *tracer) complete(c *capture) {
	c.once.Do(func() {
		t.mu.Lock()
		ranks, is := t.ranks, func(o *capture) bool { return o == c }
		t.captures = slices.DeleteFunc(t.captures, is)
		if ranks != nil {
			t.gathered = append(t.gathered, c)
		}
		t.mu.Unlock()
		if ranks == nil {
			c.done()
			return
		}
		t.work.Go(func() {
			ranks.gather(c)
			t.mu.Lock()
			t.gathered = slices.DeleteFunc(t.gathered, is)
			stale := c.stale
			t.mu.Unlock()
			if !stale {
				c.done()
			}
		})
	})
}

// unfinished lists the captures of which this process, or another one, records something.
func (t *tracer) unfinished() []*capture {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Concat(t.captures, t.gathered)
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
		t.complete(c)
	}
	return nil
}
