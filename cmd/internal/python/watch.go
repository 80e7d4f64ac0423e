package python

import (
	"strconv"
	"time"

	"github.com/swcaffe/swcaffe/solver"
)

// watch connects a running solver with Python: it asks for signals, calls callbacks, and sees to it that nets keep their blobs in the last
// iteration and in the last batch of a test.
type watch struct {
	solver    *Solver
	callbacks bool // Python has callbacks
	// key identifies the solver in Python's callbacks.
	key    int64
	failed error     // the exception that ends the run
	polled time.Time // the last Poll
	// net is the index in Solver.nets of the net that runs. testing: it is a test net, and action comes before its batches. fresh: it was
	// made to keep its blobs, and has not run since.
	net            int
	testing, fresh bool
	first          int  // the iteration at which the run began, -1 before it
	repeats        bool // the present iteration can be repeated (Solver.repeat)
}

// pollEvery is the time between two questions for signals. Each waits for Python's interpreter, which other threads may use.
const pollEvery = 50 * time.Millisecond

// fewest is the number of iterations before the end of a Step from which on it pays to let blobs share memory in all but the last: planning the net anew
// takes as long as some iterations of a small net.
const fewest = 8

// begin prepares for a run.
func (w *watch) begin() {
	w.failed, w.polled, w.net, w.testing, w.fresh = nil, time.Now(), 0, false, false
	w.first, w.repeats = -1, false
}

// call makes the solver call Python's callbacks from now on, which know it by a key.
func (w *watch) call(key int64) error {
	w.key, w.callbacks = key, true
	return nil
}

// callback calls Python's callbacks, which may run the solver's nets.
func (w *watch) callback(op Op) error {
	if !w.callbacks {
		return nil
	}
	return w.solver.gate.between(func() error {
		return aside(func() error { return call(op, w.key, "", nil) })
	})
}

// hookKind numbers the kinds of hooks.
func hookKind(backward, after bool) (kind byte) {
	if backward {
		kind = 2
	}
	if after {
		kind++
	}
	return kind
}

// callHooks makes the runs of a solver's net call Python's hooks from now on, which know the net by a key. The net keeps all blobs, at which
// hooks may look. Python itself calls the hooks of runs that it begins.
func (n *Net) callHooks(key int64) error {
	return n.use(false, func() error { n.hooks = key; return nil })
}

// hook makes the solver's nets call their hooks, or ends that.
func (v *Solver) hook(on bool) {
	for _, n := range v.nets {
		switch {
		case n.hooks == 0:
		case on:
			n.net.Around(func(i int, backward, after bool) error {
				return aside(func() error { return call(RunHooks, n.hooks, strconv.Itoa(i), []byte{hookKind(backward, after)}) })
			})
		default:
			n.net.Around(nil)
		}
	}
}

// action asks Python for signals, after an iteration or before a test batch. If blobs share memory, one more iteration or batch without this
// follows before the solver stops.
func (w *watch) action() solver.Action {
	pause()
	if w.failed == nil && time.Since(w.polled) >= pollEvery {
		w.failed = aside(func() error { return call(Poll, 0, "", nil) })
		w.polled = time.Now()
	}
	if !w.testing {
		w.solver.stale = w.solver.nets[0].net.Economises()
	}
	if w.failed == nil || w.testing && w.fresh || (w.testing || !w.repeats) && w.keep(w.net) {
		return solver.None
	}
	return solver.Stop
}

// progress prepares a net for its next iteration or test batch. The last iteration before a test keeps all blobs, too, because a signal may
// end the run in the test.
func (w *watch) progress(testing bool, done, of int) {
	w.fresh = false
	if !testing {
		w.prepare(done, of)
		return
	}
	if w.testing = true; done == 0 {
		w.net = min(w.net+1, len(w.solver.nets)-1)
	}
	switch {
	case done == of-1:
		w.keep(w.net)
	case done == 0 && of >= fewest && w.failed == nil:
		w.economise(w.net)
	}
}

// prepare prepares the training net for an iteration.
func (w *watch) prepare(done, of int) {
	w.testing, w.net = false, 0
	w.solver.show()
	if w.first < 0 {
		w.first = done
	}
	w.repeats = of-w.first < fewest && w.solver.mayRepeat()
	switch {
	case w.repeats:
		w.economise(0)
	case done == of-1 || w.failed != nil || w.testsAfter(done):
		w.keep(0)
	case of-done >= fewest:
		w.economise(0)
	}
	if !w.solver.nets[0].net.Economises() {
		w.solver.stale = false // this iteration computes all blobs
	}
}

// testsAfter reports whether a test follows an iteration.
func (w *watch) testsAfter(iteration int) bool {
	interval := int(w.solver.solver.Param().GetTestInterval())
	return interval > 0 && (iteration+1)%interval == 0
}

// keep makes a net keep all its blobs. It reports whether it did not do so before.
func (w *watch) keep(net int) bool {
	n := w.solver.nets[net].net
	if !n.Economises() {
		return false
	}
	w.must(n.Economise(false))
	w.fresh = true
	return true
}

// economise lets a net share memory between blobs, unless Python looks at one of them.
func (w *watch) economise(net int) {
	n := w.solver.nets[net]
	if !w.solver.plain && !w.callbacks && n.hooks == 0 && !n.isWatched() {
		w.must(n.net.Economise(true))
	}
}

// must ends the run with an error.
func (w *watch) must(err error) {
	if err != nil && w.failed == nil {
		w.failed = err
	}
}
