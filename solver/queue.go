package solver

import "sync"

// Queue plays strategies with a centre in virtual time. A worker that has a message for the centre waits until every worker has
// one, or has left; then the earliest is served, the lowest rank's of several, or that of the rank whose turn it is. So goroutine
// order reaches no result.
//
// A centre that serves one worker at a time is busy with its request from the first byte in to the last byte out. One that is
// unlocked receives, moves its weights and sends at the same time, each for one worker.
type Queue struct {
	costs   Costs
	centre  *centre
	mu      sync.Mutex
	changed *sync.Cond
	workers []queued
	opened  int
	run     int // of Step
	failed  error

	busy                  float64 // until then
	receiving, forwarding float64
}

// queued is one worker in a Queue. It is its Clock and its exchanger.
type queued struct {
	queue   *Queue
	rank    int
	now     float64
	message []float32 // not nil: the worker waits
	left    bool
	err     error
	failure error // why it makes no more requests
}

// NewQueue returns the queue of a team.
func NewQueue(workers int, message func(bytes int) float64, update float64) *Queue {
	q := &Queue{costs: Costs{Message: message, Update: update}, workers: make([]queued, workers)}
	q.changed = sync.NewCond(&q.mu)
	for r := range q.workers {
		q.workers[r] = queued{queue: q, rank: r}
	}
	return q
}

// Clock returns a worker's clock.
func (q *Queue) Clock(rank int) Clock { return &q.workers[rank] }

// Now implements Clock.
func (w *queued) Now() float64 { return w.now }

// AdvanceTo implements Clock.
func (w *queued) AdvanceTo(t float64) { w.now = max(w.now, t) }

// open waits until all workers have begun a run; c is nil except for the worker that has the centre.
func (q *Queue) open(rank int, c *centre) *queued {
	q.mu.Lock()
	defer q.mu.Unlock()
	if c != nil {
		q.centre = c
	}
	q.opened++
	run := q.run
	if q.opened == len(q.workers) {
		q.opened = 0
		q.run++
		for r := range q.workers {
			q.workers[r].left = false
		}
		q.changed.Broadcast()
	}
	for q.run == run && q.failed == nil {
		q.changed.Wait()
	}
	return &q.workers[rank]
}

func (w *queued) exchange(message []float32) error {
	q := w.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	w.message = message
	q.serve()
	for w.message != nil && q.failed == nil {
		q.changed.Wait()
	}
	if w.message != nil {
		return q.failed
	}
	return w.err
}

// serve, when all workers wait, serves one. If some have failed, all fail with the lowest rank's error.
func (q *Queue) serve() {
	next, broken := -1, -1
	for r := range q.workers {
		w := &q.workers[r]
		switch {
		case w.failure != nil && broken < 0:
			broken = r
		case w.failure != nil, w.left:
		case w.message == nil:
			return
		case q.centre.kind.order == inTurn:
			next = q.centre.turn
		case next < 0 || w.now < q.workers[next].now:
			next = r
		}
	}
	if broken >= 0 && q.failed == nil {
		q.failed = &PeerError{broken, q.workers[broken].failure.Error()}
		q.changed.Broadcast()
	}
	if next < 0 || q.failed != nil {
		return
	}
	w := &q.workers[next]
	_, w.err = q.centre.respond(next, w.message)
	w.now = q.answered(w.now, bytesPerValue*len(w.message))
	w.message = nil
	q.changed.Broadcast()
}

// answered returns when the answer to a request made at a time is there.
func (q *Queue) answered(at float64, bytes int) float64 {
	message := q.costs.Message(bytes)
	if q.centre.kind.order != unlocked {
		q.busy = max(at, q.busy) + message + q.costs.Update + message
		return q.busy
	}
	q.receiving = max(at, q.receiving) + message
	q.forwarding = max(q.receiving+q.costs.Update, q.forwarding) + message
	return q.forwarding
}

// leave ends a worker's run; the one that has the centre waits for the others.
func (w *queued) leave([]float32) error {
	q := w.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	w.left = true
	q.centre.leave(w.rank)
	q.serve()
	q.changed.Broadcast()
	for w.rank == 0 && q.failed == nil && !q.empty() {
		q.changed.Wait()
	}
	return q.failed
}

func (q *Queue) empty() bool {
	for r := range q.workers {
		if !q.workers[r].left {
			return false
		}
	}
	return true
}

// kept is not called in virtual time.
func (w *queued) kept([]float32) error {
	panic("solver: workers in virtual time do not say what they have kept")
}

func (w *queued) fail(err error) {
	w.queue.mu.Lock()
	defer w.queue.mu.Unlock()
	w.failure = err
	w.queue.serve()
}
