package solver

import (
	"slices"

	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver/centre"
)

// exchanger is a worker's connection to the centre.
type exchanger interface {
	// Exchange sends a request and replaces it by the answer.
	Exchange(m centre.Message) error
	// Leave announces the end of the worker's requests. On the worker with the centre it waits for the others.
	Leave(m centre.Message) error
	// Kept announces that the worker has written its own part of a snapshot. On the worker with the centre it waits for the others.
	Kept(m centre.Message) error
	// Fail reports the worker's failure to the centre, if this process holds it.
	Fail(err error)
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
	kind    centre.Kind
	centre  *centre.Centre // on the first worker only
	way     exchanger      // nil between runs
	message centre.Message
	body    []float32    // the message's
	steps   []float32    // descend: the total subtracted since the last exchange
	before  []float32    // descend: the statistics after the last exchange
	own     []float32    // scratch
	copy    *centre.Copy // on the others, if they may be left without the first
	shows   []float32    // first worker: the centre's state while shown
	showsV  []float32    // the centre's momentum while shown
	served  int          // requests that the centre had served before this team's
	started bool
	ended   bool // by an error
}

func centredBy(kind centre.Kind) func(v *Solver) strategy {
	return func(v *Solver) strategy {
		p, n := v.group.pack, v.group.stateSize()
		c := &centred{v: v, team: v.team, kind: kind}
		shared := centre.NewCopy(kind, n, len(p.data))
		c.message = centre.NewMessage(n)
		if v.opt.Carries != nil {
			c.message = centre.NewMessage(shared.Values())
		}
		c.body = c.message.Body()[:n]
		c.own = make([]float32, n)
		if kind.Rule == centre.Descend {
			c.steps, c.before = make([]float32, len(p.data)), make([]float32, p.count)
		}
		var momentum float32
		if !kind.WorkerMomentum {
			momentum = v.dropMomentum()
		}
		if v.team.rank() == 0 {
			c.centre = centre.New(kind, v.team.size(), momentum, make([]float32, n), len(p.data))
			c.shows, c.showsV = make([]float32, n), make([]float32, len(c.centre.Velocity))
		} else if v.opt.Carries != nil {
			c.copy, c.showsV = shared, make([]float32, len(shared.Velocity))
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
			c.begin(c.centre.Weights, c.centre.Velocity)
			if c.v.opt.Carries != nil {
				c.centre.Share(c.served)
			}
		} else if c.copy != nil {
			c.begin(c.copy.Weights, c.copy.Velocity)
			c.copy.Served = c.served
		}
		if c.kind.Rule == centre.Descend {
			c.v.group.pack.gather(c.before, 1)
		}
		if err := c.v.resume(c); err != nil {
			return err
		}
	}
	c.way = c.open()
	return nil
}

// begin sets weights and velocity of the centre, or of a copy, to the solver's.
func (c *centred) begin(weights, velocity []float32) {
	c.v.group.state(weights)
	c.v.update.packHistory(c.v.group.pack, velocity)
	vec.Scale(velocity, velocity, -1)
}

// open connects the worker to the centre for a run of iterations.
func (c *centred) open() exchanger {
	if c.centre != nil {
		c.centre.Begin()
	}
	switch {
	case c.v.watch != nil:
		return c.v.watch.Queue.Open(c.team.rank(), c.centre)
	case c.centre == nil:
		return centre.Remote{Transport: c.team.Transport}
	}
	return centre.Serve(c.centre, c.team.Transport)
}

func (c *centred) combine(loss float64) (float64, error) {
	if err := c.v.checkLoss(loss); err != nil {
		return 0, err
	}
	c.v.watch.reach(0)
	if c.kind.Rule != centre.Elastic || !c.v.exchanges() {
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
	if c.copy != nil { // the answer was W from before this worker's term
		vec.Add(c.copy.Weights, c.copy.Weights, c.body)
	}
	return loss, nil
}

func (c *centred) updated(float64) (Action, error) {
	if c.kind.Rule == centre.Descend {
		vec.Add(c.steps, c.steps, c.v.group.pack.diff)
	}
	if !c.v.exchanges() {
		return None, nil
	}
	if c.kind.Rule == centre.Descend {
		if err := c.descend(); err != nil {
			return None, err
		}
	} else {
		c.v.group.state(c.own)
		vec.Sub(c.own, c.own, c.body)
		c.v.group.setState(c.own)
	}
	return c.message.Agreed(), nil
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
	c.message.Request(alpha, c.v.pendingAction())
	err := c.way.Exchange(c.message)
	if err == nil && c.copy != nil {
		c.copy.Take(c.message)
	}
	return err
}

// shown calls f while the net has the centre's weights and the solver the centre's momentum, in Caffe's sign. If the centre has momentum,
// the worker has none, so that its histories hold nothing that is needed. Workers without the centre show their copy, if they have one.
func (c *centred) shown(f func() error) error {
	weights := c.shows
	switch {
	case !c.started || c.centre == nil && c.copy == nil:
		return f()
	case c.copy != nil:
		weights = c.copy.Weights
		copy(c.showsV, c.copy.Velocity)
	default:
		// After an error a team that may go on without this worker ends no round.
		c.centre.CopyTo(c.shows, c.showsV, c.v.watch == nil && !(c.ended && c.v.opt.Carries != nil))
	}
	vec.Scale(c.showsV, c.showsV, -1)
	c.v.update.unpackHistory(c.v.group.pack, c.showsV)
	return c.v.group.lend(weights, f)
}

// version implements versioned. The centre itself counts as later than a copy from its last answer.
func (c *centred) version() int {
	switch {
	case c.started && c.centre != nil:
		return 2 * c.centre.Served()
	case c.started && c.copy != nil && c.copy.Served > c.served:
		return 2*c.copy.Served - 1
	}
	return 2 * c.served
}

// follow implements versioned.
func (c *centred) follow(version int) { c.served = (version + 1) / 2 }

// keep implements individual. It returns the worker's weights, its momentum, and the steps not yet sent.
func (c *centred) keep() *caffepb.WorkerState {
	s := &caffepb.WorkerState{State: make([]float32, c.v.group.stateSize())}
	c.v.group.state(s.State)
	if c.kind.WorkerMomentum {
		s.Velocity = make([]float32, len(c.v.group.pack.data))
		c.v.update.packHistory(c.v.group.pack, s.Velocity)
	}
	if c.kind.Rule == centre.Descend {
		s.Pending = slices.Concat(c.steps, c.before)
	}
	return s
}

// inStep implements individual.
func (c *centred) inStep() bool { return c.kind.Order == centre.InTurn }

// allKept implements individual. With workers in turn, their messages tell the centre that they have written. With any other order workers
// are at different iterations, so that a snapshot is not of one moment anyway.
func (c *centred) allKept(err error) error {
	switch {
	case c.kind.Order != centre.InTurn:
		return err
	case c.way == nil:
		return c.team.consent(err)
	case err != nil && !passes(err):
		return err
	case err != nil:
		c.v.log.Errorf("%v. Training goes on; from this snapshot all workers start from the centre", err)
	}
	return c.way.Kept(c.message)
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
		c.ended = true
		c.way.Fail(err)
		return err
	}
	way := c.way
	c.way = nil
	return way.Leave(c.message)
}
