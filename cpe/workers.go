package cpe

import (
	"runtime/debug"
	"sync/atomic"
)

// workers are the threads of a native machine's core groups except the first, whose work the caller of Run does.
//
// Kernels of a small net follow each other within microseconds, but waking a thread takes tens of them. A worker that has finished therefore
// polls for its next program for a while before it sleeps, and Run polls for the workers' end. An operating system may also start a woken
// thread on the processor that its waker goes on using, and leave it there for milliseconds while another processor is idle. A worker is
// therefore kept off its waker's processor. Results do not depend on any of this: groups write to disjoint places, and the bells order all
// their writes before Run returns.
type workers struct {
	all     []*worker
	running atomic.Int32 // groups that have not finished the current program
	done    bell         // rung by the last group to finish
}

// worker is the thread of one core group.
type worker struct {
	group   *CoreGroup
	program Program // the next program; nil: stop
	start   bell
	thread  thread
}

// start starts a worker for each core group except the caller's.
func (w *workers) start(groups []*CoreGroup, errs []error) {
	w.done.init()
	for _, g := range groups {
		one := &worker{group: g}
		one.start.init()
		w.all = append(w.all, one)
		go w.work(one, 1+len(groups), errs)
	}
}

// work runs programs until there are no more, and then ends its thread.
func (w *workers) work(one *worker, groups int, errs []error) {
	one.thread.claim(groups)
	debug.SetPanicOnFault(true) // an address outside of all memory is a panic, too
	for {
		one.start.await(nil)
		if one.program == nil {
			return
		}
		errs[one.group.index] = one.group.run(one.program)
		if w.running.Add(-1) == 0 {
			w.done.ring()
		}
	}
}

// begin gives a program to the first n workers.
func (w *workers) begin(p Program, n int) {
	w.running.Store(int32(n))
	for _, one := range w.all[:n] {
		one.program = p
		if one.start.asleep.Load() {
			one.thread.avoid(processor())
		}
		one.start.ring()
	}
}

// end waits for the first n workers to finish.
func (w *workers) end(n int) {
	if n > 0 {
		w.done.await(w.apart)
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
	for _, one := range w.all {
		one.program = nil
		one.start.ring()
	}
	w.all = nil
}
