package cpe

import "sync/atomic"

// workers are the threads of a native machine's core groups but the first, which the caller of Run works for itself.
//
// Kernels of a small net follow each other within microseconds, while waking a thread takes tens of them. So a worker that has
// finished looks for its next program for a while before it sleeps, and Run looks for the workers' end. An operating system may also
// start a thread that it wakes on the processor that the waking one goes on using, and leave it there for milliseconds while another
// processor is idle: so a worker is kept from the processor of the one who needs it. Results do not depend on any of this:
// groups write to disjoint places, and the bells order all their writes before Run returns.
type workers struct {
	all     []*worker
	running atomic.Int32 // groups that have not finished the running program
	done    bell         // rung by the last of them
}

// worker is one of them.
type worker struct {
	group   *CoreGroup
	program Program // nil: no more
	start   bell
	thread  thread
}

// start makes a worker a core group; the caller's group is one more.
func (w *workers) start(groups []*CoreGroup, errs []error) {
	w.done.init()
	for _, g := range groups {
		one := &worker{group: g}
		one.start.init()
		w.all = append(w.all, one)
		go w.work(one, 1+len(groups), errs)
	}
}

// work does programs until there are no more. The thread ends with it.
func (w *workers) work(one *worker, groups int, errs []error) {
	one.thread.claim(groups)
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

// begin hands a program to the first n workers.
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

// end waits for the workers that begin gave a program.
func (w *workers) end(n int) {
	if n > 0 {
		w.done.await(w.apart)
	}
}

// apart keeps all workers from the caller's processor.
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
