package centre

import (
	"fmt"
	"sync"
)

// Clock is a worker's virtual time, in seconds.
type Clock interface {
	Now() float64
	// AdvanceTo moves the clock forward to t. It does nothing if t has passed.
	AdvanceTo(t float64)
}

// PeerError is the failure of another worker.
type PeerError struct {
	Rank int
	Text string
	// Passes says that the cause may be gone a moment later, as a full disk.
	Passes bool
}

func (e *PeerError) Error() string { return fmt.Sprintf("rank %d: %s", e.Rank, e.Text) }

// bytesPerValue is the size of a value in a message.
const bytesPerValue = 4

// Queue orders the messages of strategies with a centre in virtual time. A worker with a message for the centre waits until every other
// worker has a message too or has left. Then the Queue serves the earliest message; of several, the lowest rank's. If workers take turns,
// it serves the rank whose turn it is. The order of goroutines therefore affects no result.
//
// A centre that serves one worker at a time is busy from the first byte of a request to the last byte of its answer. An unlocked centre
// receives, updates its weights and sends at the same time, each for a different worker.
type Queue struct {
	message func(bytes int) float64 // the time of one message on an idle network, in seconds
	update  float64                 // the time of one update of all weights
	centre  *Centre
	mu      sync.Mutex
	changed *sync.Cond
	workers []Worker
	opened  int
	run     int // number of the present run (Step)
	failed  error

	busy                  float64 // the time until which the centre is busy
	receiving, forwarding float64
	served                func(Service)
}

// Service is how the centre served a worker's request, in seconds.
type Service struct {
	Worker, Bytes int
	Sent          float64    // when the worker was ready to send
	Request       [2]float64 // begin and end of the request's transfer
	Answer        [2]float64 // and of the answer's
}

// Observe has a function called for every request, before its worker goes on. Call it before the first request.
func (q *Queue) Observe(served func(Service)) { q.served = served }

// Worker is one worker in a Queue: its Clock, and its connection to the centre.
type Worker struct {
	queue   *Queue
	rank    int
	now     float64
	message Message // if not nil, the worker waits for an answer
	left    bool
	err     error
	failure error // the reason that the worker makes no more requests
}

// NewQueue returns the queue of a team. message is the time of one message on an idle network, update that of one update of all weights by the
// centre, in seconds.
func NewQueue(workers int, message func(bytes int) float64, update float64) *Queue {
	q := &Queue{message: message, update: update, workers: make([]Worker, workers)}
	q.changed = sync.NewCond(&q.mu)
	for r := range q.workers {
		q.workers[r] = Worker{queue: q, rank: r}
	}
	return q
}

// Clock returns a worker's clock.
func (q *Queue) Clock(rank int) Clock { return &q.workers[rank] }

// Now implements Clock.
func (w *Worker) Now() float64 { return w.now }

// AdvanceTo implements Clock.
func (w *Worker) AdvanceTo(t float64) { w.now = max(w.now, t) }

// Open waits until all workers have started a run. c is nil except on the worker with the centre.
func (q *Queue) Open(rank int, c *Centre) *Worker {
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

// Exchange sends a request and replaces it by the answer.
func (w *Worker) Exchange(message Message) error {
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

// serve serves one message if all workers wait. If some have failed, all fail with the error of the lowest failed rank.
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
		case q.centre.kind.Order == InTurn:
			next = q.centre.turn
		case next < 0 || w.now < q.workers[next].now:
			next = r
		}
	}
	if broken >= 0 && q.failed == nil {
		q.failed = &PeerError{Rank: broken, Text: q.workers[broken].failure.Error()}
		q.changed.Broadcast()
	}
	if next < 0 || q.failed != nil {
		return
	}
	w := &q.workers[next]
	_, w.err = q.centre.respond(next, w.message)
	s := q.service(Service{Worker: next, Bytes: bytesPerValue * len(w.message), Sent: w.now})
	w.now = s.Answer[1]
	w.message = nil
	if q.served != nil {
		q.served(s)
	}
	q.changed.Broadcast()
}

// service adds the times of the transfers.
func (q *Queue) service(s Service) Service {
	message := q.message(s.Bytes)
	if q.centre.kind.Order != Unlocked {
		begin := max(s.Sent, q.busy)
		received := begin + message
		q.busy = received + q.update + message
		s.Request, s.Answer = [2]float64{begin, received}, [2]float64{received + q.update, q.busy}
		return s
	}
	begin := max(s.Sent, q.receiving)
	q.receiving = begin + message
	forwards := max(q.receiving+q.update, q.forwarding)
	q.forwarding = forwards + message
	s.Request, s.Answer = [2]float64{begin, q.receiving}, [2]float64{forwards, q.forwarding}
	return s
}

// Leave ends a worker's run. The worker with the centre waits for the others.
func (w *Worker) Leave(Message) error {
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

// Kept is not called in virtual time.
func (w *Worker) Kept(Message) error {
	panic("centre: Kept is not available in virtual time")
}

// Fail makes the other workers' requests fail.
func (w *Worker) Fail(err error) {
	w.queue.mu.Lock()
	defer w.queue.mu.Unlock()
	w.failure = err
	w.queue.serve()
}
