package solver

import (
	"errors"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"

	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver/centre"
	"github.com/swcaffe/swcaffe/solver/evaluate"
	"github.com/swcaffe/swcaffe/solver/events"
	"google.golang.org/protobuf/proto"
)

// Action is a signal's request to a running solver.
type Action = centre.Action

// The actions.
const (
	None     = centre.None
	Stop     = centre.Stop
	Snapshot = centre.Snapshot
)

// Options configure a solver beyond its prototxt.
type Options struct {
	Engine  layers.Engine
	Machine *cpe.Machine
	// CoreGroups are the machines of further core groups. The worker's items are split over Machine and these.
	CoreGroups []*cpe.Machine
	// Team is the worker's place among several workers; nil for a single worker.
	Team *Team
	Log  *logrus.Logger
	// Force and Tuner select the algorithms of convolutions, as in layers.Device.
	Force op.Force
	Tuner conv.Tuner
	// Seed is the random seed if the prototxt has no random_seed.
	Seed uint64
	// Action, if not nil, returns the signals' request. It is called after every iteration and every test batch.
	Action func() Action
	// Progress, if not nil, is called before every iteration and every test batch with the number done and the total.
	Progress func(testing bool, done, of int)
	// OnStart, if not nil, is called before the passes of every iteration, and OnGradients between them and the update. An error ends Step.
	OnStart, OnGradients func() error
	// OnStepped, if not nil, is called after the update of every iteration, before workers exchange their new weights. OnUpdated, if not nil,
	// is called when that has been done too.
	OnStepped, OnUpdated func()
	// OnTest, if not nil, is called before every run of a test net. The function that it returns, if not nil, is called after each batch of the run
	// that this worker computes, with the number of batches that are left.
	OnTest func(net int) (seen func(left int))
	// Carries, if not nil, reports whether the training goes on after an error of Solve, with what Carry returns. Solve then writes no snapshot
	// because of it.
	Carries func(err error) bool
	// Now is the clock for throughput figures; nil means time.Now.
	Now func() time.Time
	// Parts is the number of workers in this process, which share its memory; 0 means 1.
	Parts int
	// MachineText is the modelled machine's prototxt, for events; "" on this computer.
	MachineText string
	// Events, if not nil, receives the events of Solve and Step.
	Events *events.Stream
}

// Solver holds a training net, its test nets and the state of the optimisation.
type Solver struct {
	file  *swproto.Solver
	param *caffepb.SolverParameter // the file's
	opt   Options
	log   *logrus.Logger
	seed  uint64

	net         *swnet.Net
	arena       *swnet.Arena // memory that the nets use in turn
	budget      pages.Budget // of all nets
	testNets    []*swnet.Net
	testDevices []*layers.Device
	scorers     []*evaluate.Scorer // by test net
	evaluation  evaluate.Method
	best        best
	agree       Reducer // sums one value over the workers that test together
	device      *layers.Device
	update      *updater
	team        *Team
	group       group
	strategy    strategy
	overlap     overlapping // the strategy, if it is overlapping
	pending     Action      // requested during a test
	watch       *stopwatch
	report      *reporter

	footing   footing
	spare     spare
	write     func(path string, m proto.Message) error // swproto.WriteBinary
	begun     int                                      // the iteration at which Solve began
	ending    bool                                     // an error ends the run
	inMemory  bool                                     // the state at the beginning was carried: no file has it
	alone     bool                                     // the team is gone: this worker writes the snapshot
	unkept    string                                   // why there is no snapshot of what was trained; see Unkept
	late      late                                     // a snapshot that could not be written
	stateless string                                   // the weights of the last snapshot that this run has begun, if they have no state

	restored bool                 // a snapshot was restored since the last run of iterations
	kept     *caffepb.WorkerState // the worker's own state in that snapshot; nil if absent

	iter, step int
	losses     lossWindow
	speed      speedometer
	stopped    bool
	lastLoss   float64 // mean loss of the passes of the last iteration
	lastRate   float64 // its learning rate
	origin     string  // the state that Restore read
	lastState  string  // file of the last snapshot's state
	lastIter   int     // iteration of the last snapshot
	spoiled    string  // where a NaN or infinity first appeared in the last passes
	warned     bool    // the warning of a NaN or infinite loss was logged
}

// New builds the nets of a solver file and loads the weights that the weights field names. Its error has all faults that can be found at
// once, a line each: in the fields, in every net, in its sources, in weights and in the place for snapshots.
func New(s *swproto.Solver, opt Options) (*Solver, error) {
	v := &Solver{file: s, param: s.Param, opt: opt, log: opt.Log, team: opt.Team, arena: &swnet.Arena{}, budget: pages.Budget{Parts: opt.Parts}, best: best{tested: -1}, write: swproto.WriteBinary}
	if v.log == nil {
		v.log = layers.NoLog()
	}
	if v.opt.Action == nil {
		v.opt.Action = func() Action { return None }
	}
	if v.opt.Progress == nil {
		v.opt.Progress = func(bool, int, int) {}
	}
	if v.opt.Now == nil {
		v.opt.Now = time.Now
	}
	v.report = newReporter(v)
	var found faults
	v.check(&found)
	v.seed = opt.Seed
	if s.Param.GetRandomSeed() >= 0 {
		v.seed = uint64(s.Param.GetRandomSeed())
	}
	if v.team != nil {
		var err error
		if v.seed, err = v.team.begin(v.seed); err != nil {
			return nil, err
		}
	}
	v.log.Infof("Random seed: %d", v.seed)
	if err := v.build(&found); err != nil {
		v.Close()
		return nil, err
	}
	return v, nil
}

// shared reports whether other workers or core groups take part.
func (v *Solver) shared() bool { return v.team != nil || len(v.opt.CoreGroups) > 0 }

// share returns the items that a core group's net trains on.
func (v *Solver) share(coreGroup int) layers.Share {
	if !v.shared() {
		return layers.Share{}
	}
	return layers.Share{Rank: v.team.rank(), Ranks: v.team.size(), Split: v.team.splits(), Group: coreGroup, Groups: 1 + len(v.opt.CoreGroups)}
}

func (v *Solver) newDevice(seed uint64) *layers.Device {
	return &layers.Device{
		Engine: v.opt.Engine, Machine: v.opt.Machine, Random: layers.NewRandom(seed), Log: v.log,
		Force: v.opt.Force, Tuner: v.opt.Tuner,
	}
}

// Net returns the training net.
func (v *Solver) Net() *swnet.Net { return v.net }

// TestNets returns the test nets, in the order of the test_iter values.
func (v *Solver) TestNets() []*swnet.Net { return v.testNets }

// Stopped reports whether a signal ended Solve before max_iter.
func (v *Solver) Stopped() bool { return v.stopped }

// LastSnapshot returns the file and the iteration of the last state written, or "".
func (v *Solver) LastSnapshot() (state string, iteration int) { return v.lastState, v.lastIter }

// Unkept returns why no snapshot of the last whole iteration was written when an error ended Solve, "" if one was.
func (v *Solver) Unkept() string { return v.unkept }

// Iter returns the number of iterations done.
func (v *Solver) Iter() int { return v.iter }

// LastLoss returns the loss of the last iteration, the mean of its iter_size passes; LastRate returns its learning rate.
func (v *Solver) LastLoss() float64 { return v.lastLoss }
func (v *Solver) LastRate() float64 { return v.lastRate }

// Rate returns the learning rate of the next iteration.
func (v *Solver) Rate() float64 { return v.learningRate() }

// ApplyUpdate updates the weights by the gradients they have now, as Step does after its passes, and counts this as an iteration: the next
// update has the next iteration's learning rate.
func (v *Solver) ApplyUpdate() error {
	if _, err := v.applyUpdate(false); err != nil {
		return err
	}
	v.iter++
	return nil
}

// Param returns the solver's parameters.
func (v *Solver) Param() *caffepb.SolverParameter { return v.param }

// Close stops the nets' prefetchers and closes their files.
func (v *Solver) Close() error {
	var errs []error
	if v.net != nil {
		errs = append(errs, v.net.Close())
	}
	for _, r := range v.group.others {
		errs = append(errs, r.close())
	}
	for _, n := range v.testNets {
		errs = append(errs, n.Close())
	}
	return errors.Join(errs...)
}
