package solver

import "sync"

// turnOrder is the order in which a centre serves requests.
type turnOrder int

const (
	// firstCome serves one request at a time, in order of arrival.
	firstCome turnOrder = iota
	// inTurn serves one request at a time, in order of ranks: [SC17] algorithm 1.
	inTurn
	// unlocked serves all requests at once. A lock protects each chunk of the weights, since racing writes are undefined in Go. The order
	// of two requests may differ from chunk to chunk.
	unlocked
)

// centreRule says how a request changes the centre's weights W, and what the answer is.
type centreRule int

const (
	// descend: the request is a step u. W <- W - u, or with momentum V <- mu V - u; W <- W + V ([SC17] equations 3 and 4). The answer is
	// the new W.
	descend centreRule = iota
	// elastic: the request is a worker's W_i. W <- W + eta rho (W_i - W) ([SC17] equation 2, one worker's term). The answer is W before the
	// change.
	elastic
)

// chunk is the number of values that one lock guards.
const chunk = 4096

// centre holds the weights that all workers update together. Its vectors are the packed weights, followed by the statistics.
type centre struct {
	kind     centreKind
	momentum float32
	weights  []float32
	velocity []float32 // of the packed weights; nil without momentum
	locks    []sync.Mutex

	mu     sync.Mutex
	turned *sync.Cond
	turn   int // inTurn: the next rank to be served
	left   []bool
	asked  Action // requested by any worker
	round  Action // inTurn: the action for all workers in this round
	kept   []int  // inTurn: by rank, the number of snapshots for which it has written its own part
	failed error
	broken []error // inTurn: errors of workers, reported once it is their turn
}

func newCentre(kind centreKind, workers int, momentum float32, weights []float32, learned int) *centre {
	c := &centre{kind: kind, momentum: momentum, weights: weights, left: make([]bool, workers), kept: make([]int, workers), broken: make([]error, workers)}
	c.turned = sync.NewCond(&c.mu)
	c.locks = make([]sync.Mutex, (len(weights)+chunk-1)/chunk)
	if kind.centreMomentum {
		c.velocity = make([]float32, learned)
	}
	return c
}

// serve applies a worker's request and replaces it by the answer. alpha is eta rho. asked is the action that signals request of the worker;
// agreed is the action it must take.
func (c *centre) serve(rank int, request []float32, alpha float32, asked Action) (agreed Action, err error) {
	if c.kind.order == inTurn {
		return c.serveInTurn(rank, request, alpha, asked)
	}
	c.ask(asked)
	if err := c.serveAny(request, alpha); err != nil {
		return None, err
	}
	return c.agreed(rank), nil
}

// serveAny serves a request at once, or, unless unlocked, once no other request is being served.
func (c *centre) serveAny(request []float32, alpha float32) error {
	if c.kind.order == unlocked {
		for k := range c.locks {
			c.moveAlone(k, request, alpha)
		}
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
	return nil
}

// serveInTurn serves a request at the worker's turn. The first rank's turn starts a round and fixes the action for all workers in it. They
// therefore all stop, or write a snapshot, after the same iteration. Actions requested later in the round apply to the next one.
func (c *centre) serveInTurn(rank int, request []float32, alpha float32, asked Action) (agreed Action, err error) {
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
func (c *centre) pass(rank int) {
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
func (c *centre) moveAlone(k int, request []float32, alpha float32) {
	c.locks[k].Lock()
	defer c.locks[k].Unlock()
	c.move(k, request, alpha)
}

// move applies the rule to one chunk.
func (c *centre) move(k int, request []float32, alpha float32) {
	lo, hi := k*chunk, min((k+1)*chunk, len(c.weights))
	w, r := c.weights[lo:hi], request[lo:hi]
	if c.kind.rule == elastic {
		for i, x := range r {
			r[i] = w[i]
			w[i] += alpha * (x - w[i])
		}
		return
	}
	var velocity []float32
	if lo < len(c.velocity) {
		velocity = c.velocity[lo:min(hi, len(c.velocity))]
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
func (c *centre) leave(rank int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left[rank] = true
	c.pass(rank)
}

// ask records an action requested of a worker.
func (c *centre) ask(a Action) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.note(a)
}

// note is ask for callers that hold the lock. A Stop is never replaced.
func (c *centre) note(a Action) {
	if a != None && c.asked != Stop {
		c.asked = a
	}
}

// agreed returns the action for workers that do not take turns. A Stop goes to every worker, a Snapshot only once to the first rank.
func (c *centre) agreed(rank int) Action {
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
func (c *centre) keeps(rank int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept[rank]++
	c.turned.Broadcast()
}

// allKept waits until every worker has written its own parts of as many snapshots as the first. It returns an error if a worker has failed.
func (c *centre) allKept() error {
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
func (c *centre) fail(rank int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broken[rank] = err
	if c.failed == nil && (c.kind.order != inTurn || c.turn == rank) {
		c.failed = err
	}
	c.turned.Broadcast()
}

func (c *centre) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}

// copyTo copies the centre's weights and, if it has momentum, its velocity. If whole is set and workers take turns, it waits for the end of
// a round: the first rank's turn, or all workers gone.
func (c *centre) copyTo(weights, velocity []float32, whole bool) {
	if c.kind.order != unlocked {
		c.mu.Lock()
		defer c.mu.Unlock()
	}
	for whole && c.kind.order == inTurn && c.turn != 0 && !c.left[c.turn] && c.failed == nil {
		c.turned.Wait()
	}
	copy(velocity, c.velocity)
	for k := range c.locks {
		lo, hi := k*chunk, min((k+1)*chunk, len(c.weights))
		c.locks[k].Lock()
		copy(weights[lo:hi], c.weights[lo:hi])
		c.locks[k].Unlock()
	}
}
