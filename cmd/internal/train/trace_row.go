package train

import (
	"fmt"
	"strings"
	"time"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/app/timeline"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/modeltime/trust"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/solver"
)

// row is the timeline of a worker: its layers, and lanes for its machine's threads, the prefetchers and the sums of gradients.
type row struct {
	t       *tracer
	rank    int
	name    string
	get     func() *solver.Solver
	machine *cpe.Machine
	shared  bool        // the worker exchanges gradients or weights with others
	centre  int         // the centre's row; 0: there is none
	virtual *virtualRow // nil: real time only
	tap     *tap
	to      []*capture // that record the current iteration
	begun   time.Time  // of the current iteration
	layered time.Time  // end of the last layer's run
	passed  time.Time  // end of the passes and of the exchange
	updated time.Time  // end of the update
	calls   int64      // of the transport until then
	stints  []stint    // of the current layer
}

// stint is a thread's part of a kernel.
type stint struct {
	program string
	cpe.Stint
}

// attach records a worker. It adds to the options' callbacks.
func (t *tracer) attach(opt *solver.Options, get func() *solver.Solver) {
	r := &row{t: t, get: get, machine: opt.Machine, name: "worker"}
	if team := opt.Team; team != nil {
		r.join(team)
	}
	r.tap = t.tap(r.rank)
	t.join(r)
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
		err := onGradients()
		r.passed, r.stints = time.Now(), r.stints[:0] // what a page looks at is no part of the iteration
		return err
	}
	opt.OnStepped, opt.OnUpdated = r.stepped, r.end
}

// join makes the row one of a team's.
func (r *row) join(team *solver.Team) {
	r.rank, r.shared = team.Transport.Rank(), true
	r.name = fmt.Sprintf("worker %d", r.rank)
	if solver.HasCentre(team.Strategy) {
		r.centre = team.Transport.Size()
	}
	if team.Virtual != nil {
		r.virtual = &virtualRow{Virtual: team.Virtual}
	}
	reducer := team.NewReducer
	team.NewReducer = func(n int, tree bool) solver.Reducer { return timedReducer{reducer(n, tree), r, n} }
}

// start begins an iteration.
func (r *row) start() {
	if r.to = r.t.begun(r.get().Iter()); r.to == nil {
		return
	}
	r.tap.set(r.to)
	r.begun, r.layered = time.Now(), time.Time{}
	r.observe(true)
	if v := r.virtual; v != nil {
		v.passes, v.begun = max(1, int(r.get().Param().GetIterSize())), v.Clock.Now()
	}
}

// observe begins or ends the observation of the net, the machine and the prefetchers.
func (r *row) observe(on bool) {
	n := r.get().Net()
	if on {
		n.Observe(r.layer)
		r.machine.Observe(r.ran)
	} else {
		n.Observe(nil)
		r.machine.Observe(nil)
	}
	for i := range n.NumLayers() {
		d, ok := n.Layer(i).(layers.DataWaiter)
		if !ok {
			continue
		}
		if !on {
			d.ObserveData(nil)
			continue
		}
		to, name := r.to, n.LayerName(i)
		d.ObserveData(func(work string, worker int, begun time.Time) {
			lane := fmt.Sprintf("%s, %s", name, work)
			if work != "read" {
				lane += fmt.Sprint(" ", worker)
			}
			for _, c := range to {
				c.recorder.Add(timeline.Span{Row: c.recorder.Lane(r.rank, lane), Name: work, Category: "data", Begin: begun, Took: time.Since(begun)})
			}
		})
	}
}

// ran keeps the threads' parts of a kernel until its layer is known.
func (r *row) ran(program string, list []cpe.Stint) {
	for _, s := range list {
		r.stints = append(r.stints, stint{program, s})
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
	for _, c := range r.to {
		c.recorder.Add(s)
	}
	r.flush(s.Name, s.Category, kindOf(n.LayerType(i), algorithmsOf(n, i, backward)))
}

// flush records the threads' parts of the kernels of a layer. Modelled times have the range of a pass of this kind.
func (r *row) flush(name, category string, kind trust.Kind) {
	for _, t := range r.stints {
		span := timeline.Span{Name: name, Category: category, Begin: t.Begun, Took: t.Took, Notes: map[string]any{"kernel": t.program}}
		for _, c := range r.to {
			if r.machine.Native() {
				span.Row = c.recorder.Lane(r.rank, fmt.Sprintf("thread %d", t.Group))
				c.recorder.Add(span)
				continue
			}
			span.Row = c.modelled.Lane(r.rank, fmt.Sprintf("core group %d", t.Group))
			span.Begin, span.Took = modelledTime(t.From), modelledTime(t.Lasted).Sub(modelledTime(0))
			ms := t.Lasted.Milliseconds()
			if known := trust.Of(r.machine.Spec().Name).Range(kind, ms); known.Known() {
				addRange(span.Notes, known)
			}
			c.modelled.Add(span)
		}
	}
	r.stints = r.stints[:0]
}

// addRange notes where the true time of a modelled span probably lies, in ms.
func addRange(notes map[string]any, r trust.Range) { notes["low_ms"], notes["high_ms"] = r.Low, r.High }

// kindOf is the kind of a pass with these algorithms, as package trust tells them apart: the widest if it cannot be told.
func kindOf(layerType, algorithms string) trust.Kind {
	switch {
	case strings.Contains(algorithms, ";"):
	case strings.HasPrefix(algorithms, "explicit-"):
		return trust.Explicit
	case strings.HasPrefix(algorithms, "mesh-"):
		return trust.Implicit
	case layerType == "InnerProduct":
		return trust.Product
	case layerType == "Pooling":
		return trust.Pooling
	}
	return trust.Any
}

// modelledTime is a machine's modelled time in a timeline.
func modelledTime(t cpe.VTime) time.Time {
	const picoseconds = 1000 // of a nanosecond
	return time.Unix(1, int64(t)/picoseconds)
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

// gradients ends the passes and the exchange that follows them.
func (r *row) gradients() {
	if r.to == nil {
		return
	}
	r.passed = time.Now()
	if r.shared && !r.layered.IsZero() {
		r.add("exchange", "exchange", r.layered, r.passed)
	}
	if r.virtual != nil {
		r.virtual.combined = r.virtual.Clock.Now()
	}
}

// stepped ends the update.
func (r *row) stepped() {
	if r.to == nil {
		return
	}
	r.updated, r.calls = time.Now(), r.tap.calls.Load()
	r.flush("update", "update", trust.Iteration)
	r.add("update", "update", r.passed, r.updated)
	if r.virtual != nil {
		r.virtual.updated = r.virtual.Clock.Now()
	}
}

// end ends an iteration.
func (r *row) end() {
	if r.to == nil {
		return
	}
	r.tap.set(nil)
	end := time.Now()
	iteration := r.get().Iter()
	name := fmt.Sprintf("iteration %d", iteration)
	if r.centre > 0 || r.tap.calls.Load() > r.calls {
		r.add("exchange", "exchange", r.updated, end)
	}
	r.add(name, "iteration", r.begun, end)
	r.observe(false)
	if r.virtual != nil {
		r.virtual.ended(r.addModelled, r.rank, name, r.get().Net())
	}
	for _, c := range r.to {
		r.t.ended(c, r, iteration)
	}
	r.to = nil
}

func (r *row) addModelled(s timeline.Span) {
	for _, c := range r.to {
		c.modelled.Add(s)
	}
}

func (r *row) add(name, category string, from, to time.Time) {
	for _, c := range r.to {
		c.recorder.Add(timeline.Span{Row: r.rank, Name: name, Category: category, Begin: from, Took: to.Sub(from)})
	}
}

// timedReducer records the sums of gradients, which may go on beside Backward.
type timedReducer struct {
	solver.Reducer
	row    *row
	values int
}

func (t timedReducer) Run(data []float32) error {
	begun := time.Now()
	err := t.Reducer.Run(data)
	t.row.tap.each(func(c *capture) {
		span := timeline.Span{Row: c.recorder.Lane(t.row.rank, "communication"), Name: "sum", Category: "exchange", Begin: begun, Took: time.Since(begun)}
		span.Notes = map[string]any{"values": fmt.Sprint(t.values)}
		c.recorder.Add(span)
	})
	return err
}
