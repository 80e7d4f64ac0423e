package cpe

import (
	"runtime/debug"
	"sync/atomic"
	"time"
)

// workers are the threads of a native machine's core groups except the first, whose work the caller of Run does.
//
// Kernels of a small net follow each other within microseconds, but waking a thread takes tens of them. A worker that has finished therefore
// polls for its next program for a while before it sleeps, and Run polls for the workers' end. An operating system may also start a woken
// thread on the processor that its waker goes on using, and leave it there for milliseconds while another processor is idle. A worker is
// therefore kept off its waker's processor. Where other programs compute as well, a worker may not run at all for some milliseconds. The caller that has done its own
// part therefore takes the parts of all workers that have not begun. Results do not depend on any of this: groups write to disjoint places, and the atomic
// variables order all their writes before Run returns.
//
// A cache line moves from core to core in about a tenth of a microsecond, and while one core writes it no other does. So all workers look at one line, which
// the caller writes once for a program, and at its end teams of them count in lines of their own.
type workers struct {
	all     []*worker
	program Program // the current program; nil: stop
	now     call
	done    bell
	late    func() // apart and help
	ended   func() bool

	_        [lineBytes]byte
	called   atomic.Uint64 // the current call
	_        [lineBytes]byte
	finished atomic.Int32 // teams whose workers have all finished the current call
	_        [lineBytes]byte
	ends     atomic.Uint64 // the last call that all have finished
	_        [lineBytes]byte
	teams    []team
}

// call is a program's number, and below it that of the workers who take part.
type call uint64

const callBits = 20

func (c call) workers() int { return int(c & (1<<callBits - 1)) }

// next is the call after c, of n workers.
func (c call) next(n int) call { return (c>>callBits+1)<<callBits | call(n) }

// teamSize is the number of workers that count in one line.
const teamSize = 8

// team counts its workers that have finished the current call.
type team struct {
	finished atomic.Int32
	_        [lineBytes]byte
}

// lineBytes is the size of a cache line, and of its neighbour, which processors read along with it.
const lineBytes = 128

// worker is the thread of one core group.
type worker struct {
	group  *CoreGroup
	place  int // among the workers
	seen   call
	start  bell
	thread thread

	_     [lineBytes]byte
	taken atomic.Uint64 // the last call of which somebody has taken its part
	_     [lineBytes]byte
}

// take reports whether nobody else has taken the worker's part of a call.
func (one *worker) take(c call) bool {
	last := one.taken.Load()
	return last < uint64(c) && one.taken.CompareAndSwap(last, uint64(c))
}

// start starts a worker for each core group except the caller's.
func (w *workers) start(groups []*CoreGroup) {
	w.done.init()
	w.late = func() {
		w.apart()
		w.help()
	}
	w.ended = func() bool { return w.ends.Load() == uint64(w.now) }
	w.teams = make([]team, (len(groups)+teamSize-1)/teamSize)
	for i, g := range groups {
		one := &worker{group: g, place: i}
		one.start.init()
		w.all = append(w.all, one)
		go w.work(one, 1+len(groups))
	}
}

// work runs programs until there are no more, and then ends its thread.
func (w *workers) work(one *worker, groups int) {
	one.thread.claim(groups)
	debug.SetPanicOnFault(true) // an address outside of all memory is a panic, too
	called := func() bool {
		c := call(w.called.Load())
		if c == one.seen {
			return false
		}
		one.seen = c
		return one.place < c.workers() && one.take(c)
	}
	for {
		one.start.await(called, nil)
		if w.program == nil {
			return
		}
		one.group.run(w.program)
		w.finish(one, one.seen)
	}
}

// finish counts a worker's part of a call as done. The last of a team counts for the team, and the last of all ends the call.
func (w *workers) finish(one *worker, c call) {
	n, at := c.workers(), one.place/teamSize
	if !last(&w.teams[at].finished, min(teamSize, n-at*teamSize)) || !last(&w.finished, (n+teamSize-1)/teamSize) {
		return
	}
	w.ends.Store(uint64(c))
	w.done.ring()
}

// last counts up to n, for which it returns true, and then begins again.
func last(count *atomic.Int32, n int) bool {
	if count.Add(1) < int32(n) {
		return false
	}
	count.Store(0)
	return true
}

// begin gives a program to the first n workers.
func (w *workers) begin(p Program, n int) {
	if n == 0 {
		return
	}
	w.program, w.now = p, w.now.next(n)
	w.called.Store(uint64(w.now))
	for _, one := range w.all[:n] {
		if one.start.asleep.Load() {
			one.thread.avoid(processor())
			one.start.ring()
		}
	}
}

// end waits for the first n workers to finish.
func (w *workers) end(n int) {
	if n > 0 {
		w.done.await(w.ended, w.late)
	}
}

// help does the parts of workers that have not begun. The time of such a part counts from the beginning of the program, since its worker was late by that much (shares).
func (w *workers) help() {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // as in their own goroutines
	for _, one := range w.all[:w.now.workers()] {
		if one.take(w.now) {
			g := one.group
			g.run(w.program)
			g.begun = g.machine.groups[0].begun
			g.spent = time.Since(g.begun)
			w.finish(one, w.now)
		}
	}
}

// apart keeps all workers off the caller's processor.
func (w *workers) apart() {
	here := processor()
	for _, one := range w.all {
		one.thread.avoid(here)
	}
}

// stop ends the workers.
func (w *workers) stop() {
	w.begin(nil, len(w.all))
	w.all = nil
}
