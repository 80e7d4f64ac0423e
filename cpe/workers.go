package cpe

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// workers are the goroutines of a native machine's core groups but the first, which the caller of Run works for itself.
//
// Kernels of a small net follow each other within microseconds, while waking a parked goroutine takes tens of them. So a
// worker that has finished polls for its next program for a while before it parks, and Run polls for the workers' end
// before it parks. Results do not depend on it: each group's share is fixed, groups write to disjoint places, and wait.Wait
// (or the count reaching zero) orders all their writes before Run returns.
type workers struct {
	jobs    []chan Program
	running atomic.Int32 // groups that have not finished the running program
	wait    sync.WaitGroup
}

// How often the sides look before they park: a worker for some 30 microseconds, Run for a few.
const (
	workerPolls = 2000
	runPolls    = 3000
)

// start makes a goroutine a core group.
func (w *workers) start(groups []*CoreGroup, errs []error) {
	for _, g := range groups {
		jobs := make(chan Program, 1)
		w.jobs = append(w.jobs, jobs)
		go w.work(g, jobs, errs)
	}
}

func (w *workers) work(g *CoreGroup, jobs chan Program, errs []error) {
	for {
		p, ok := next(jobs)
		if !ok {
			return
		}
		errs[g.index] = p.RunGroup(g)
		w.running.Add(-1)
		w.wait.Done()
		runtime.Gosched() // to Run, if it has parked
	}
}

// next receives a program, polling first.
func next(jobs chan Program) (p Program, ok bool) {
	for range workerPolls {
		select {
		case p, ok = <-jobs:
			return p, ok
		default:
		}
	}
	p, ok = <-jobs
	return p, ok
}

// begin hands a program to the first n workers.
func (w *workers) begin(p Program, n int) {
	w.running.Store(int32(n))
	w.wait.Add(n)
	for _, jobs := range w.jobs[:n] {
		jobs <- p
	}
}

// end waits for them.
func (w *workers) end() {
	for range runPolls {
		if w.running.Load() == 0 {
			break
		}
	}
	w.wait.Wait()
}

// stop ends the goroutines.
func (w *workers) stop() {
	for _, jobs := range w.jobs {
		close(jobs)
	}
	w.jobs = nil
}
