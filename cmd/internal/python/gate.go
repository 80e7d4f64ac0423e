package python

import "sync"

// gate admits one thread at a time to a net, or to a solver and its nets.
type gate struct {
	mu     sync.Mutex
	thread uintptr
	depth  int
	runs   bool // the thread is inside forward, backward or step
}

const running = "this net or solver is running: a layer, hook or callback cannot run it again"

// Thread identifies the calling thread. libswcaffe sets it.
var Thread = func() uintptr { return 1 }

// enter admits the calling thread. A thread that is inside already may enter again, from a Python layer or a callback; run says that it
// wants to run the net, which is possible only once at a time.
func (g *gate) enter(run bool) error {
	here := Thread()
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.depth > 0 && g.thread != here:
		return &Fault{Kind: "RuntimeError", Text: "this net or solver is in use by another thread; a net serves one thread at a time"}
	case run && g.runs:
		return &Fault{Kind: "RuntimeError", Text: running}
	}
	g.thread = here
	g.depth++
	g.runs = g.runs || run
	return nil
}

// leave ends a stay that began with enter(run).
func (g *gate) leave(run bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.depth--
	if run {
		g.runs = false
	}
}

// between runs f, at a moment of a run at which the net's blobs are at rest. The thread may run a net in f.
func (g *gate) between(f func() error) error {
	g.set(false)
	defer g.set(true)
	return f()
}

func (g *gate) set(runs bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.runs = runs
}

// turns orders the threads on the machine, which the nets of all threads share.
var turns sync.Mutex

// inTurn runs f while no other thread uses the machine.
func inTurn(f func() error) error {
	turns.Lock()
	defer turns.Unlock()
	return f()
}

// aside runs Python code inside of inTurn, during which other threads may use the machine.
func aside(code func() error) error {
	turns.Unlock()
	defer turns.Lock()
	return code()
}

// pause lets other threads that wait use the machine.
func pause() {
	turns.Unlock()
	turns.Lock()
}
