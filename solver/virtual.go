package solver

import "github.com/swcaffe/swcaffe/internal/caffelog"

// Clock is a worker's virtual time, in seconds.
type Clock interface {
	Now() float64
	// AdvanceTo lets time pass up to t; it does nothing for a t that is past.
	AdvanceTo(t float64)
}

// Costs are what a worker's work takes on a modelled machine and network, in seconds.
type Costs struct {
	Forward  float64   // all layers, over the worker's items
	Backward []float64 // each layer
	Update   float64   // of all weights once, by a worker or by a centre
	// Message is one way between a worker and a centre when nobody else sends.
	Message func(bytes int) float64
}

// Virtual makes a team train in virtual time: values are computed for real, and clocks show what the modelled machines would take.
type Virtual struct {
	Clock Clock
	Costs Costs
	// Queue orders the messages of strategies with a centre; all workers have the same one. Its clocks are those of the workers.
	Queue *Queue
}

// stopwatch accounts for a worker's virtual time. A nil stopwatch, where time is real, does nothing.
type stopwatch struct {
	*Virtual
	passes        float64 // a pass is forward and backward
	backward      []float64
	started       bool
	origin, begun float64
	computed      float64 // over all iterations
	updated       float64
}

// newStopwatch returns nil where time is real.
func newStopwatch(t *Team, iterSize int32) *stopwatch {
	if t == nil || t.Virtual == nil {
		return nil
	}
	w := &stopwatch{Virtual: t.Virtual, passes: float64(max(1, iterSize)), backward: make([]float64, len(t.Virtual.Costs.Backward)+1)}
	// backward[i] is the time from the end of the forward pass to the end of layer i.
	for i := len(w.Costs.Backward) - 1; i >= 0; i-- {
		w.backward[i] = w.backward[i+1] + w.Costs.Backward[i]
	}
	return w
}

// zero starts the account.
func (w *stopwatch) zero() {
	if w != nil && !w.started {
		w.started, w.origin = true, w.Clock.Now()
	}
}

// begin notes the start of an iteration.
func (w *stopwatch) begin() {
	if w != nil {
		w.begun = w.Clock.Now()
		w.computed += w.passTime() * w.passes
	}
}

func (w *stopwatch) passTime() float64 { return w.Costs.Forward + w.backward[0] }

// reach waits until the last backward pass of the iteration has done a layer; 0 is its end.
func (w *stopwatch) reach(layer int) {
	if w != nil {
		w.Clock.AdvanceTo(w.begun + w.passTime()*(w.passes-1) + w.Costs.Forward + w.backward[layer])
	}
}

// update lets the time of an update pass.
func (w *stopwatch) update() {
	if w != nil {
		w.updated += w.Costs.Update
		w.Clock.AdvanceTo(w.Clock.Now() + w.Costs.Update)
	}
}

// round lets a message go to a centre that is no worker, and one back.
func (w *stopwatch) round(bytes int) {
	if w != nil {
		w.Clock.AdvanceTo(w.Clock.Now() + 2*w.Costs.Message(bytes) + w.Costs.Update)
	}
}

// logTime prints the virtual time since the start and what it went to; what is neither passes nor updates is communication that
// does not overlap with them, waiting included.
func (v *Solver) logTime() {
	w := v.watch
	if w == nil {
		return
	}
	total := w.Clock.Now() - w.origin
	if total <= 0 {
		v.log.Info("    Simulated time: 0 s")
		return
	}
	share := func(part float64) float64 { return 100 * part / total }
	v.log.Infof("    Simulated time: %s s (compute %.1f%%, update %.1f%%, communication %.1f%%)",
		caffelog.Figure(total), share(w.computed), share(w.updated), max(0, share(total-w.computed-w.updated)))
}
