package solver

import (
	"math"

	"github.com/swcaffe/swcaffe/internal/base/suggest"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver/centre"
)

// strategy defines how workers train together. The solver calls its methods at fixed points of an iteration.
type strategy interface {
	// start is called before a run of iterations. Weights, histories and iteration number are set by then.
	start() error
	// combine is called between the backward pass and the update. It returns the loss to log.
	combine(loss float64) (float64, error)
	// updated is called after the update with its learning rate. It returns the action that the workers have agreed on.
	updated(rate float64) (Action, error)
	// shown calls f while the net has the weights to test and to store.
	shown(f func() error) error
	// finish is called after a run of iterations. err is nil, or the reason that the run ended early.
	finish(err error) error
}

// overlapping is implemented by strategies that communicate during the passes of an iteration.
type overlapping interface {
	// begin is called before the first pass.
	begin() error
	// layerDone is called in the last backward pass after each layer, once the gradients of the layer's weights are complete.
	layerDone(layer int)
}

// individual is implemented by strategies whose workers differ. keep returns a worker's own state for a snapshot.
type individual interface {
	keep() *caffepb.WorkerState
	// inStep reports whether a snapshot that was not planned, as by a signal, finds all workers at one iteration.
	inStep() bool
	// allKept waits, at least on the first worker, until every worker has written its own state. err is this worker's result. The first
	// worker returns an error if any worker failed. It is not called in virtual time.
	allKept(err error) error
	// regain restores a state returned by keep.
	regain(*caffepb.WorkerState)
}

// versioned is implemented by strategies whose workers can be at different iterations of one common state.
type versioned interface {
	// version tells which of two workers' knowledge of the common state is the later one.
	version() int
	// follow sets the version from which the next start goes on.
	follow(version int)
}

// Sync is the strategy whose workers split each batch and sum their gradients before every update.
const Sync = "sync"

// family lists the strategies with their constructors, in the order of [SC17] (Y. You, A. Buluc, J. Demmel, "Scaling deep learning on GPU
// and Knights Landing clusters", 2017). That paper defines all but the first and the last.
var family = suggest.Table[member]{Kind: "strategy", Kinds: "strategies", Name: func(m member) string { return m.name }, Entries: []member{
	{Sync, false, func(v *Solver) strategy { return &syncSGD{v: v, team: v.team} }},
	{"easgd", true, centredBy(centre.Kind{Order: centre.InTurn, Rule: centre.Elastic})},
	{"async_sgd", true, centredBy(centre.Kind{Order: centre.FirstCome, Rule: centre.Descend})},
	{"async_msgd", true, centredBy(centre.Kind{Order: centre.FirstCome, Rule: centre.Descend, Momentum: true})},
	{"hogwild_sgd", true, centredBy(centre.Kind{Order: centre.Unlocked, Rule: centre.Descend})},
	{"async_easgd", true, centredBy(centre.Kind{Order: centre.FirstCome, Rule: centre.Elastic})},
	{"async_measgd", true, centredBy(centre.Kind{Order: centre.FirstCome, Rule: centre.Elastic, WorkerMomentum: true})},
	{"hogwild_easgd", true, centredBy(centre.Kind{Order: centre.Unlocked, Rule: centre.Elastic})},
	{"sync_easgd1", false, syncElasticBy(syncElasticKind{tree: true, apart: true})},
	{"sync_easgd2", false, syncElasticBy(syncElasticKind{tree: true})},
	{"sync_easgd3", false, syncElasticBy(syncElasticKind{tree: true, overlapped: true})},
	{"decentralised_easgd", false, syncElasticBy(syncElasticKind{overlapped: true})},
}}

type member struct {
	name   string
	centre bool // see HasCentre
	make   func(v *Solver) strategy
}

// Strategies lists the names for Team.Strategy.
func Strategies() []string { return family.Names() }

// CheckStrategy returns an error if name is not in Strategies.
func CheckStrategy(name string) error {
	_, err := family.Find(name)
	return err
}

// HasCentre reports whether the workers of a strategy exchange messages with a centre. Workers of the other strategies sum arrays.
func HasCentre(name string) bool {
	m, err := family.Find(name)
	return err == nil && m.centre
}

// newStrategy returns the strategy of the worker's team.
func (v *Solver) newStrategy() (strategy, error) {
	if v.team == nil {
		return alone{v}, nil
	}
	if err := v.team.check(v.param); err != nil {
		return nil, err
	}
	m, err := family.Find(v.team.Strategy)
	if err != nil {
		return nil, err
	}
	return m.make(v), nil
}

// dropMomentum sets the solver's momentum to 0, for a strategy whose workers have none, and returns the old value.
func (v *Solver) dropMomentum() float32 {
	momentum := v.param.GetMomentum()
	if momentum != 0 {
		v.log.Infof("Workers of strategy %s step without momentum", v.team.Strategy)
	}
	v.param.Momentum = nil
	return momentum
}

// alone is the strategy of a worker without a team.
type alone struct{ v *Solver }

func (a alone) start() error { return nil }

func (a alone) combine(loss float64) (float64, error) {
	a.v.warnOfLoss(loss)
	return loss, nil
}

func (a alone) updated(float64) (Action, error) { return a.v.opt.Action(), nil }

func (a alone) shown(f func() error) error { return f() }

func (a alone) finish(err error) error { return err }

// finite reports whether a loss is neither NaN nor infinite.
func finite(loss float64) bool { return !math.IsNaN(loss) && !math.IsInf(loss, 0) }
