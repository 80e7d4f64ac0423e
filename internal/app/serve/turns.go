package serve

import "sync"

// turns lets runs of a version go on at once, each on its share of the version's cores, or one run with all of them.
//
// Runs side by side wait for nothing at the layers' ends, and lose less where other threads of the computer take a core from one of them: so requests that wait are
// answered at the highest rate. A request that comes alone has its answer sooner with all cores;
// several are divided among those that have no run.
type turns struct {
	mu      sync.Mutex
	ended   sync.Cond // of a run with all cores
	running int
	wide    bool // the run that goes on has all cores
}

func (t *turns) init() { t.ended.L = &t.mu }

// waitWide waits for the end of a run with all cores.
func (t *turns) waitWide() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.wide {
		t.ended.Wait()
	}
}

// idle returns how many of a number of workers have no run.
func (t *turns) idle(workers int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return workers - t.running
}

// begin begins a run, and reports whether it has all cores: it does if that is wanted and no other run goes on. One goroutine at a time calls waitWide and begin.
func (t *turns) begin(wanted bool) (wide bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wide = wanted && t.running == 0
	t.running++
	return t.wide
}

// end ends a run.
func (t *turns) end(wide bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running--
	if wide {
		t.wide = false
		t.ended.Signal()
	}
}
