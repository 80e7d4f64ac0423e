package train

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/cli"
	"github.com/swcaffe/swcaffe/internal/timeline"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/solver"
	"github.com/swcaffe/swcaffe/solver/events"
)

// tracer writes the timeline of the first iterations of all workers in this process: iterations with their layers, the exchange between
// workers and the update; tests and snapshots.
type tracer struct {
	env        *cli.Env
	path       string
	iterations int
	recorder   timeline.Recorder

	mu      sync.Mutex
	active  int       // rows that record
	written bool      // the file is complete
	over    bool      // the first worker's row has ended
	last    time.Time // of the last event
}

func newTracer(e *cli.Env, path string, iterations int) *tracer {
	return &tracer{env: e, path: path, iterations: iterations}
}

// row is the timeline of a worker.
type row struct {
	t       *tracer
	rank    int
	get     func() *solver.Solver
	shared  bool      // the worker exchanges gradients or weights with others
	done    int       // iterations recorded
	begun   time.Time // of the current iteration
	layered time.Time // end of the last layer's run
	passed  time.Time // end of the passes and of the exchange
}

// attach records a worker. It adds to the options' callbacks.
func (t *tracer) attach(opt *solver.Options, get func() *solver.Solver) {
	r := &row{t: t, get: get}
	name := "worker"
	if opt.Team != nil {
		r.rank, r.shared = opt.Team.Transport.Rank(), true
		name = fmt.Sprintf("worker %d", r.rank)
	}
	t.recorder.Name(r.rank, name)
	t.mu.Lock()
	t.active++
	t.mu.Unlock()
	onStart, onGradients := opt.OnStart, opt.OnGradients
	opt.OnStart = func() error {
		if onStart != nil {
			if err := onStart(); err != nil {
				return err
			}
		}
		r.start()
		return nil
	}
	opt.OnGradients = func() error {
		r.gradients()
		if onGradients == nil {
			return nil
		}
		return onGradients()
	}
	opt.OnUpdated = r.updated
}

// start begins an iteration.
func (r *row) start() {
	if r.done < r.t.iterations {
		r.begun, r.layered = time.Now(), time.Time{}
		r.get().Net().Observe(r.layer)
	}
}

// layer records a layer's run.
func (r *row) layer(i int, backward bool, begun time.Time) {
	r.layered = time.Now()
	n := r.get().Net()
	s := timeline.Span{Row: r.rank, Name: n.LayerName(i), Category: "forward", Begin: begun, Took: r.layered.Sub(begun), Notes: map[string]any{"type": n.LayerType(i)}}
	if backward {
		s.Category = "backward"
	}
	if a := algorithmsOf(n, i, backward); a != "" {
		s.Notes["algorithm"] = a
	}
	r.t.recorder.Add(s)
}

// algorithmsOf names the algorithms of a layer's run.
func algorithmsOf(n *swnet.Net, i int, backward bool) string {
	if !backward {
		return string(n.Algorithm(i, shape.Forward))
	}
	weights, inputs := n.Algorithm(i, shape.WeightGradient), n.Algorithm(i, shape.InputGradient)
	if weights == "" || inputs == "" || weights == inputs {
		return string(max(weights, inputs))
	}
	return fmt.Sprintf("%s; %s", weights, inputs)
}

// gradients ends the passes.
func (r *row) gradients() {
	if r.done >= r.t.iterations {
		return
	}
	r.passed = time.Now()
	if r.shared && !r.layered.IsZero() {
		r.add("exchange", "exchange", r.layered, r.passed)
	}
}

// updated ends an iteration, and with the last one that is recorded the row.
func (r *row) updated() {
	if r.done >= r.t.iterations {
		return
	}
	end := time.Now()
	r.add("update", "update", r.passed, end)
	r.add(fmt.Sprintf("iteration %d", r.get().Iter()), "iteration", r.begun, end)
	if r.done++; r.done == r.t.iterations {
		r.get().Net().Observe(nil)
		r.t.leave(r.rank)
	}
}

func (r *row) add(name, category string, from, to time.Time) {
	r.t.recorder.Add(timeline.Span{Row: r.rank, Name: name, Category: category, Begin: from, Took: to.Sub(from)})
}

// take records the first worker's tests and snapshots, which begin with the event before.
func (t *tracer) take(e events.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
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
		t.recorder.Add(timeline.Span{Name: name, Category: e.Kind(), Begin: t.last, Took: e.Time.Sub(t.last)})
	}
	t.last = e.Time
}

// leave ends a row. The last one to leave writes the file.
func (t *tracer) leave(rank int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = t.over || rank == 0
	if t.active--; t.active == 0 {
		t.write()
	}
}

// end writes the file of a run that ended before its rows.
func (t *tracer) end() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.write()
	return nil
}

// write writes the file once. A failure does not end the run.
func (t *tracer) write() {
	if t.written {
		return
	}
	t.written = true
	err := t.env.CreateFile(t.path, func(w io.Writer) error {
		_, err := t.recorder.WriteTo(w)
		return err
	})
	if err != nil {
		t.env.Log.Warnf("-trace %v; training goes on", err)
	}
}
