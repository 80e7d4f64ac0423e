package solver

import (
	"github.com/swcaffe/swcaffe/internal/base/caffelog"
	"github.com/swcaffe/swcaffe/solver/centre"
	"github.com/swcaffe/swcaffe/solver/events"
)

// Costs are the times of a worker's operations on a modelled machine and network, in seconds.
type Costs struct {
	Forward  float64   // all layers, for the worker's items
	Backward []float64 // each layer
	Update   float64   // all weights once, by a worker or by a centre
	// Message is the time of one message between a worker and a centre on an idle network.
	Message func(bytes int) float64
}

// Virtual makes a team train in virtual time: values are computed for real, while clocks show the time on the modelled machines.
type Virtual struct {
	Clock centre.Clock
	Costs Costs
	// Queue orders the messages of strategies with a centre. All workers have the same Queue, and its clocks are theirs.
	Queue *centre.Queue
	// Range returns where the true time for a simulated one probably lies, and its text behind that time in the log; nil: it is not known.
	Range func(seconds float64) (low, high float64, text string)
}

// stopwatch keeps a worker's virtual time. A nil stopwatch means real time; its methods do nothing.
type stopwatch struct {
	*Virtual
	passes        float64 // passes per iteration (iter_size), each forward and backward
	backward      []float64
	started       bool
	origin, begun float64
	computed      float64 // time of passes over all iterations
	updated       float64
}

// newStopwatch returns a worker's stopwatch, or nil for real time.
func newStopwatch(t *Team, iterSize int32) *stopwatch {
	if t == nil || t.Virtual == nil {
		return nil
	}
	w := &stopwatch{Virtual: t.Virtual, passes: float64(max(1, iterSize)), backward: make([]float64, len(t.Virtual.Costs.Backward)+1)}
	// backward[i] is the time from the end of Forward to the end of Backward of layer i.
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

// begin records the start of an iteration.
func (w *stopwatch) begin() {
	if w != nil {
		w.begun = w.Clock.Now()
		w.computed += w.passTime() * w.passes
	}
}

func (w *stopwatch) passTime() float64 { return w.Costs.Forward + w.backward[0] }

// reach advances the clock to the moment when the iteration's last backward pass has completed a layer. Layer 0 is the pass's end.
func (w *stopwatch) reach(layer int) {
	if w != nil {
		w.Clock.AdvanceTo(w.begun + w.passTime()*(w.passes-1) + w.Costs.Forward + w.backward[layer])
	}
}

// update advances the clock by the time of an update.
func (w *stopwatch) update() {
	if w != nil {
		w.updated += w.Costs.Update
		w.Clock.AdvanceTo(w.Clock.Now() + w.Costs.Update)
	}
}

// round advances the clock by a message to a centre that is no worker, and its answer.
func (w *stopwatch) round(bytes int) {
	if w != nil {
		w.Clock.AdvanceTo(w.Clock.Now() + 2*w.Costs.Message(bytes) + w.Costs.Update)
	}
}

// elapsed returns the virtual time since the start of the account.
func (w *stopwatch) elapsed() float64 { return w.Clock.Now() - w.origin }

// simulated fills in the virtual time of an event.
func (w *stopwatch) simulated(e *events.Iteration) {
	if w == nil {
		return
	}
	total := w.elapsed()
	e.Simulated = events.Number(total)
	if w.Range != nil {
		low, high, _ := w.Range(total)
		e.SimulatedLow, e.SimulatedHigh = events.Number(low), events.Number(high)
	}
}

// logTime logs the virtual time since the start and its parts. The rest, beside passes and updates, is communication that does not overlap
// them, including waiting.
func (v *Solver) logTime() {
	w := v.watch
	if w == nil {
		return
	}
	total := w.elapsed()
	if total <= 0 {
		v.log.Info("    Simulated time: 0 s")
		return
	}
	text := ""
	if w.Range != nil {
		_, _, text = w.Range(total)
	}
	share := func(part float64) float64 { return 100 * part / total }
	v.log.Infof("    Simulated time: %s%s s (compute %.1f%%, update %.1f%%, communication %.1f%%)",
		caffelog.Figure(total), text, share(w.computed), share(w.updated), max(0, share(total-w.computed-w.updated)))
}
