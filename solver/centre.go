package solver

import "sync"

// turnOrder is how a centre orders the requests of workers.
type turnOrder int

const (
	// firstCome serves one request after the other, as they come.
	firstCome turnOrder = iota
	// inTurn serves one request after the other in the order of ranks: [SC17] algorithm 1.
	inTurn
	// unlocked serves all at once. A lock guards each chunk of the weights, since Go leaves racing writes undefined, but
	// nothing orders the chunks of two requests.
	unlocked
)

// centreRule is what a request does to the centre W, and what comes back.
type centreRule int

const (
	// descend: the request is a step u; W <- W - u, or with momentum V <- mu V - u; W <- W + V ([SC17] equations 3 and 4). The
	// answer is the new W.
	descend centreRule = iota
	// elastic: the request is a worker's W_i; W <- W + eta rho (W_i - W) ([SC17] equation 2, one worker's term). The answer is
	// the W before that.
	elastic
)

// chunk is the number of values that one lock guards.
const chunk = 4096

// centre holds the weights that workers move together. Its vectors are the packed weights and, behind them, the statistics.
type centre struct {
	kind     centreKind
	momentum float32
	weights  []float32
	velocity []float32 // of the packed weights; nil without momentum
	locks    []sync.Mutex

	mu     sync.Mutex
	turned *sync.Cond
	turn   int // inTurn: the rank that is served next
	left   []bool
	asked  Action // by any worker
	round  Action // inTurn: what all are told in this round
	kept   []int  // inTurn: how many snapshots each has written its own part of
	failed error
	broken []error // inTurn: of workers whose requests end when it is their turn
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

// serve applies a worker's request and replaces it by the answer. alpha is eta rho; asked is what signals ask of the worker, and agreed
// what it is to do.
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

// serveAny serves a request at once, or as soon as no other is served.
func (c *centre) serveAny(request []float32, alpha float32) error {
	if c.kind.order == unlocked {
		for k := range c.locks {
			c.locks[k].Lock()
			c.move(k, request, alpha)
			c.locks[k].Unlock()
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

// serveInTurn serves a request when it is the worker's turn. The first rank's turn begins a round, and settles what all are told in it: so
// all stop, or write a snapshot, after the same iteration. What others are asked for counts in the next round.
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

// leave says that a worker makes no more requests.
func (c *centre) leave(rank int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left[rank] = true
	c.pass(rank)
}

// ask notes what a worker is asked for.
func (c *centre) ask(a Action) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.note(a)
}

// note is ask for who has the lock; a Stop stays.
func (c *centre) note(a Action) {
	if a != None && c.asked != Stop {
		c.asked = a
	}
}

// agreed returns what workers that are not in turn are to do: a Stop as often as it is asked for, a Snapshot once and of the first rank only.
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

// keeps notes that a worker has written its own part of another snapshot.
func (c *centre) keeps(rank int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept[rank]++
	c.turned.Broadcast()
}

// allKept waits until every worker has written its own part of as many snapshots as the first one, or is an error if one has failed.
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

// fail makes all requests fail; the first cause counts. Workers in turn make theirs up to the turn of the one that has failed.
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

// copyTo reads the centre into weights and, where it has momentum, velocity. With whole, a centre that workers move in turn is
// read at the end of a round: when it is the first rank's turn, or nobody is left.
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
