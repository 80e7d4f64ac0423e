// Package centre holds the weights that the workers of some strategies update together, as in [SC17] (Y. You, A. Buluc, J. Demmel, "Scaling deep
// learning on GPU and Knights Landing clusters", 2017). Its central type is Centre. Workers send it a Message and continue with the answer.
//
//	kind.go     what tells the strategies apart
//	message.go  what a worker sends
//	server.go   the worker with the centre answers the others; Remote: another worker's connection
//	queue.go    the order of messages in virtual time
package centre

import (
	"sync"
	"sync/atomic"
)

// chunk is the number of values that one lock guards.
const chunk = 4096

// Centre is the common state. Weights are the packed weights, followed by the statistics. Velocity is the momentum of the packed weights, or nil
// without momentum. Both may be set before the first message.
type Centre struct {
	Weights, Velocity []float32

	kind     Kind
	momentum float32
	locks    []sync.Mutex
	served   atomic.Int64
	behind   int // values of an answer behind the weights, if the centre shares

	mu     sync.Mutex
	turned *sync.Cond
	turn   int // InTurn: the next rank to be served
	left   []bool
	asked  Action // requested by any worker
	round  Action // InTurn: the action for all workers in this round
	kept   []int  // InTurn: by rank, the number of snapshots for which it has written its own part
	failed error
	broken []error // InTurn: errors of workers, reported once it is their turn
}

// New returns the centre of a number of workers. The first of the weights, learned, are the packed weights.
func New(kind Kind, workers int, momentum float32, weights []float32, learned int) *Centre {
	c := &Centre{kind: kind, momentum: momentum, Weights: weights, left: make([]bool, workers), kept: make([]int, workers), broken: make([]error, workers)}
	c.turned = sync.NewCond(&c.mu)
	c.locks = make([]sync.Mutex, (len(weights)+chunk-1)/chunk)
	if kind.Momentum {
		c.Velocity = make([]float32, learned)
	}
	return c
}

// Begin prepares the centre for a run of iterations.
func (c *Centre) Begin() {
	clear(c.left)
	clear(c.kept)
	c.asked, c.turn = None, 0
}

// serve applies a worker's request and replaces it by the answer. alpha is eta rho. asked is the action that signals request of the worker;
// agreed is the action it must take.
func (c *Centre) serve(rank int, request []float32, alpha float32, asked Action) (agreed Action, err error) {
	if c.kind.Order == InTurn {
		return c.serveInTurn(rank, request, alpha, asked)
	}
	c.ask(asked)
	if err := c.serveAny(request, alpha); err != nil {
		return None, err
	}
	return c.agreed(rank), nil
}

// serveAny serves a request at once, or, unless Unlocked, once no other request is being served.
func (c *Centre) serveAny(request []float32, alpha float32) error {
	if c.kind.Order == Unlocked {
		for k := range c.locks {
			c.moveAlone(k, request, alpha)
		}
		c.count(request)
		return c.failure()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed != nil {
		return c.failed
	}
	for k := range c.locks {
		c.move(k, request, alpha)
	}
	c.count(request)
	return nil
}

// serveInTurn serves a request at the worker's turn. The first rank's turn starts a round and fixes the action for all workers in it. They
// therefore all stop, or write a snapshot, after the same iteration. Actions requested later in the round apply to the next one.
func (c *Centre) serveInTurn(rank int, request []float32, alpha float32, asked Action) (agreed Action, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.turn != rank && c.failed == nil {
		c.turned.Wait()
	}
	if c.failed != nil {
		return None, c.failed
	}
	for k := range c.locks {
		c.move(k, request, alpha)
	}
	c.count(request)
	c.note(asked)
	if rank == 0 {
		if c.round = c.asked; c.round == Snapshot {
			c.asked = None
		}
	}
	c.pass(rank)
	return c.round, nil
}

// pass gives the turn to the next rank that has not left.
func (c *Centre) pass(rank int) {
	if c.turn != rank {
		return
	}
	for range c.left {
		c.turn = (c.turn + 1) % len(c.left)
		if !c.left[c.turn] {
			break
		}
	}
	if c.failed == nil {
		c.failed = c.broken[c.turn]
	}
	c.turned.Broadcast()
}

// moveAlone is move while no other request changes the chunk.
func (c *Centre) moveAlone(k int, request []float32, alpha float32) {
	c.locks[k].Lock()
	defer c.locks[k].Unlock()
	c.move(k, request, alpha)
}

// move applies the rule to one chunk.
func (c *Centre) move(k int, request []float32, alpha float32) {
	lo, hi := k*chunk, min((k+1)*chunk, len(c.Weights))
	w, r := c.Weights[lo:hi], request[lo:hi]
	if c.kind.Rule == Elastic {
		for i, x := range r {
			r[i] = w[i]
			w[i] += alpha * (x - w[i])
		}
		return
	}
	var velocity []float32
	if lo < len(c.Velocity) {
		velocity = c.Velocity[lo:min(hi, len(c.Velocity))]
	}
	for i := range velocity {
		velocity[i] = c.momentum*velocity[i] - r[i]
		w[i] += velocity[i]
	}
	for i := len(velocity); i < len(w); i++ {
		w[i] -= r[i]
	}
	copy(r, w)
}

// leave records that a worker makes no more requests.
func (c *Centre) leave(rank int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left[rank] = true
	c.pass(rank)
}

// ask records an action requested of a worker.
func (c *Centre) ask(a Action) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.note(a)
}

// note is ask for callers that hold the lock. A Stop is never replaced.
func (c *Centre) note(a Action) {
	if a != None && c.asked != Stop {
		c.asked = a
	}
}

// agreed returns the action for workers that do not take turns. A Stop goes to every worker, a Snapshot only once to the first rank.
func (c *Centre) agreed(rank int) Action {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.asked
	switch {
	case a == Stop:
	case rank > 0:
		return None
	default:
		c.asked = None
	}
	return a
}

// keeps records that a worker has written its own part of another snapshot.
func (c *Centre) keeps(rank int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept[rank]++
	c.turned.Broadcast()
}

// allKept waits until every worker has written its own parts of as many snapshots as the first. It returns an error if a worker has failed.
func (c *Centre) allKept() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for rank := range c.kept {
		for c.kept[rank] < c.kept[0] {
			switch {
			case c.failed != nil:
				return c.failed
			case c.broken[rank] != nil:
				return c.broken[rank]
			}
			c.turned.Wait()
		}
	}
	return nil
}

// fail makes all requests fail with the first reported error. Workers in turn still complete the requests before the failed worker's turn.
func (c *Centre) fail(rank int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broken[rank] = err
	if c.failed == nil && (c.kind.Order != InTurn || c.turn == rank) {
		c.failed = err
	}
	c.turned.Broadcast()
}

func (c *Centre) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}

// CopyTo copies the centre's weights and, if it has momentum, its velocity. If whole is set and workers take turns, it waits for the end of
// a round: the first rank's turn, or all workers gone.
func (c *Centre) CopyTo(weights, velocity []float32, whole bool) {
	if c.kind.Order != Unlocked {
		c.mu.Lock()
		defer c.mu.Unlock()
	}
	for whole && c.kind.Order == InTurn && c.turn != 0 && !c.left[c.turn] && c.failed == nil {
		c.turned.Wait()
	}
	copy(velocity, c.Velocity)
	for k := range c.locks {
		lo, hi := k*chunk, min((k+1)*chunk, len(c.Weights))
		c.locks[k].Lock()
		copy(weights[lo:hi], c.Weights[lo:hi])
		c.locks[k].Unlock()
	}
}
