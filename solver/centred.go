package solver

import (
	"slices"

	"github.com/swcaffe/swcaffe/internal/simd/vec"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// centreKind tells the strategies with a centre apart.
type centreKind struct {
	order turnOrder
	rule  centreRule
	// centreMomentum: the centre uses the solver's momentum. workerMomentum: each worker uses it ([SC17] equations 5 and 6).
	centreMomentum, workerMomentum bool
}

// centred is a worker of a strategy with a centre. The first worker's process holds the centre. Every worker trains on its own batches and
// exchanges a message with the centre every tau steps:
//
//	descend  sends the sum of the steps since the last exchange, and continues from the centre's new weights
//	elastic  sends its weights W_i from before the step; with the answer W, W_i <- W_i - eta g - eta rho (W_i - W) ([SC17] equation 1)
//
// An iteration is one step of every worker. All right-hand sides use values from before the step. The gradient g includes weight decay.
type centred struct {
	v       *Solver
	team    *Team
	kind    centreKind
	centre  *centre   // on the first worker only
	way     exchanger // nil between runs
	message []float32
	body    []float32 // the message's weights and statistics
	steps   []float32 // descend: the total subtracted since the last exchange
	before  []float32 // descend: the statistics after the last exchange
	own     []float32 // scratch
	shows   []float32 // first worker: the centre's state while shown
	showsV  []float32 // first worker: the centre's momentum while shown
	started bool
}

func centredBy(kind centreKind) func(v *Solver) strategy {
	return func(v *Solver) strategy {
		p, n := v.group.pack, v.group.stateSize()
		c := &centred{v: v, team: v.team, kind: kind}
		c.message = make([]float32, n+tailSize)
		c.body = c.message[:n]
		c.own = make([]float32, n)
		if kind.rule == descend {
			c.steps, c.before = make([]float32, len(p.data)), make([]float32, p.count)
		}
		var momentum float32
		if !kind.workerMomentum {
			momentum = v.dropMomentum()
		}
		if v.team.rank() == 0 {
			c.centre = newCentre(kind, v.team.size(), momentum, make([]float32, n), len(p.data))
			c.shows, c.showsV = make([]float32, n), make([]float32, len(c.centre.velocity))
		}
		return c
	}
}

// start sets the centre to the initial state, which all workers share.
func (c *centred) start() error {
	if !c.started {
		if err := c.team.meet(c.v); err != nil {
			return err
		}
		c.started = true
		if c.centre != nil {
			c.v.group.state(c.centre.weights)
			c.v.update.packHistory(c.v.group.pack, c.centre.velocity)
			vec.Scale(c.centre.velocity, c.centre.velocity, -1)
		}
		if c.kind.rule == descend {
			c.v.group.pack.gather(c.before, 1)
		}
		if err := c.v.resume(c); err != nil {
			return err
		}
	}
	c.way = c.open()
	return nil
}

// open connects the worker to the centre for a run of iterations.
func (c *centred) open() exchanger {
	if c.centre != nil {
		clear(c.centre.left)
		clear(c.centre.kept)
		c.centre.asked, c.centre.turn = None, 0
	}
	switch {
	case c.v.watch != nil:
		return c.v.watch.Queue.open(c.team.rank(), c.centre)
	case c.centre == nil:
		return remote{c.team.Transport}
	}
	return newServer(c.centre, c.team.Transport)
}

func (c *centred) combine(loss float64) (float64, error) {
	if err := c.v.checkLoss(loss); err != nil {
		return 0, err
	}
	c.v.watch.reach(0)
	if c.kind.rule != elastic || !c.v.exchanges() {
		return loss, nil
	}
	alpha := c.team.alpha(c.v.learningRate())
	c.v.group.state(c.body)
	if err := c.exchange(alpha); err != nil {
		return 0, err
	}
	// The message holds W. It becomes eta rho (W_i - W), to be applied after the step.
	c.v.group.state(c.own)
	vec.Sub(c.body, c.own, c.body)
	vec.Scale(c.body, c.body, alpha)
	return loss, nil
}

func (c *centred) updated(float64) (Action, error) {
	if c.kind.rule == descend {
		vec.Add(c.steps, c.steps, c.v.group.pack.diff)
	}
	if !c.v.exchanges() {
		return None, nil
	}
	if c.kind.rule == descend {
		if err := c.descend(); err != nil {
			return None, err
		}
	} else {
		c.v.group.state(c.own)
		vec.Sub(c.own, c.own, c.body)
		c.v.group.setState(c.own)
	}
	return Action(c.message[len(c.body)+tailAction]), nil
}

// descend sends the steps and continues from the centre's weights.
func (c *centred) descend() error {
	p := c.v.group.pack
	n := copy(c.body, c.steps)
	statistics := c.body[n:]
	p.gather(statistics, 1)
	vec.Sub(statistics, c.before, statistics)
	if err := c.exchange(0); err != nil {
		return err
	}
	c.v.group.setState(c.body)
	copy(c.before, statistics)
	clear(c.steps)
	return nil
}

func (c *centred) exchange(alpha float32) error {
	tail := c.message[len(c.body):]
	tail[tailAlpha], tail[tailAction], tail[tailKind] = alpha, float32(c.v.pendingAction()), aRequest
	return c.way.exchange(c.message)
}

// shown calls f while the net has the centre's weights and the solver the centre's momentum, in Caffe's sign. If the centre has momentum,
// the worker has none, so that its histories hold nothing that is needed.
func (c *centred) shown(f func() error) error {
	if c.centre == nil || !c.started {
		return f()
	}
	c.centre.copyTo(c.shows, c.showsV, c.v.watch == nil)
	vec.Scale(c.showsV, c.showsV, -1)
	c.v.update.unpackHistory(c.v.group.pack, c.showsV)
	return c.v.group.lend(c.shows, f)
}

// keep implements individual. It returns the worker's weights, its momentum, and the steps not yet sent.
func (c *centred) keep() *caffepb.WorkerState {
	s := &caffepb.WorkerState{State: make([]float32, c.v.group.stateSize())}
	c.v.group.state(s.State)
	if c.kind.workerMomentum {
		s.Velocity = make([]float32, len(c.v.group.pack.data))
		c.v.update.packHistory(c.v.group.pack, s.Velocity)
	}
	if c.kind.rule == descend {
		s.Pending = slices.Concat(c.steps, c.before)
	}
	return s
}

// allKept implements individual. With workers in turn, their messages tell the centre that they have written. With any other order workers
// are at different iterations, so that a snapshot is not of one moment anyway.
func (c *centred) allKept(err error) error {
	switch {
	case c.kind.order != inTurn:
		return err
	case c.way == nil:
		return c.team.consent(err)
	case err != nil:
		return err
	}
	return c.way.kept(c.message)
}

// regain implements individual.
func (c *centred) regain(s *caffepb.WorkerState) {
	c.v.group.setState(s.State)
	c.v.update.unpackHistory(c.v.group.pack, s.Velocity)
	copy(c.before, s.Pending[copy(c.steps, s.Pending):])
}

func (c *centred) finish(err error) error {
	if c.way == nil {
		return err
	}
	if err != nil {
		c.way.fail(err)
		return err
	}
	tail := c.message[len(c.body):]
	tail[tailAction] = float32(None)
	way := c.way
	c.way = nil
	return way.leave(c.message)
}
