package solver

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"

	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver/caffeh5"
	"github.com/swcaffe/swcaffe/solver/centre"
	"github.com/swcaffe/swcaffe/solver/evaluate"
	"github.com/swcaffe/swcaffe/solver/events"
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
	Force plan.Force
	Tuner plan.Tuner
	// Seed is the random seed if the prototxt has no random_seed.
	Seed uint64
	// Action, if not nil, returns the signals' request. It is called after every iteration and every test batch.
	Action func() Action
	// Progress, if not nil, is called before every iteration and every test batch with the number done and the total.
	Progress func(testing bool, done, of int)
	// OnStart, if not nil, is called before the passes of every iteration, and OnGradients between them and the update. An error ends Step.
	OnStart, OnGradients func() error
	// OnUpdated, if not nil, is called after the update of every iteration.
	OnUpdated func()
	// OnTest, if not nil, is called before every run of a test net. The function that it returns, if not nil, is called after each batch of the run
	// that this worker computes, with the number of batches that are left.
	OnTest func(net int) (seen func(left int))
	// Now is the clock for throughput figures; nil means time.Now.
	Now func() time.Time
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

	net        *swnet.Net
	arena      *swnet.Arena // memory that the nets use in turn
	testNets   []*swnet.Net
	scorers    []*Scorer // by test net
	evaluation evaluate.Method
	best       best
	agree      Reducer // sums one value over the workers that test together
	device     *layers.Device
	update     *updater
	team       *Team
	group      group
	strategy   strategy
	overlap    overlapping // the strategy, if it is overlapping
	pending    Action      // requested during a test
	watch      *stopwatch
	report     *reporter

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
	v := &Solver{file: s, param: s.Param, opt: opt, log: opt.Log, team: opt.Team, arena: &swnet.Arena{}, best: best{tested: -1}}
	if v.log == nil {
		v.log = quiet()
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
		if v.seed, err = ShareSeed(v.team.Transport, v.seed); err != nil {
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

// build makes the nets with their weights, on all workers or on none, and then the exchange and the update. found has the faults of the
// file's fields.
func (v *Solver) build(found *faults) error {
	v.fillNets(found)
	if err := v.team.consent(found.err()); err != nil {
		return err
	}
	if err := v.makeUpdate(); err != nil {
		return inFile(v.file, err)
	}
	if err := v.tidy(); err != nil {
		return inFile(v.file, err)
	}
	return nil
}

// fillNets makes the nets and loads the weights that the weights field names. Without a training net it only looks for the weights' files.
func (v *Solver) fillNets(found *faults) {
	v.makeNets(found)
	for _, list := range v.param.Weights {
		paths, err := weightFiles(list)
		found.add(ofNamed(v.file, "weights", err))
		for _, path := range paths {
			if v.net == nil {
				_, err = os.Stat(path)
			} else {
				v.log.Infof("Finetuning from %s", path)
				err = loadFile(v.net, path, v.log)
			}
			found.add(ofNamed(v.file, "weights", err))
		}
	}
	if v.net != nil {
		found.field(v.file, v.checkSpace(swproto.FreeBytes))
	}
}

// makeUpdate prepares the exchange with other workers and core groups, and the update.
func (v *Solver) makeUpdate() (err error) {
	if v.shared() {
		if err := v.group.prepare(v.share(0), headSize); err != nil {
			return err
		}
	}
	if v.strategy, err = v.newStrategy(); err != nil {
		return err
	}
	v.watch = newStopwatch(v.team, v.param.GetIterSize())
	v.overlap, _ = v.strategy.(overlapping)
	v.update, err = newUpdater(v.param, v.net, v.device)
	return err
}

// quiet returns a log without output.
func quiet() *logrus.Logger {
	log := logrus.New()
	log.SetOutput(io.Discard)
	return log
}

// check validates the fields of the solver's file that can be checked without a net.
func (v *Solver) check(found *faults) {
	p := v.param
	for _, err := range checkCounts(p) {
		found.field(v.file, err)
	}
	_, noRule := findRule(p)
	for _, err := range []error{checkPolicy(p), v.readEvaluation(), checkBest(p), noRule, checkRegularization(p)} {
		found.field(v.file, err)
	}
	if p.GetSolverMode() == caffepb.SolverParameter_GPU && p.SolverMode != nil && v.team.rank() == 0 {
		v.log.Warn("solver_mode: GPU: there is no GPU in this build; the solver runs on CPUs")
	}
	if p.SnapshotPrefix == nil {
		prefix := v.file.Path[:len(v.file.Path)-len(filepath.Ext(v.file.Path))]
		p.SnapshotPrefix = &prefix
	}
	if v.snapshots() {
		found.field(v.file, v.checkWritable())
	}
}

// makeNets makes the training net and the test nets. It goes on after a net with faults, to find those of the others.
func (v *Solver) makeNets(found *faults) {
	train, err := trainNet(v.file)
	found.field(v.file, err)
	tests, testErr := testNets(v.file)
	if err == nil {
		found.field(v.file, testErr)
		v.makeTrainNet(train, found)
	}
	switch {
	case v.testers() != nil:
		v.agree = v.team.NewReducer(1, false)
	case v.team.rank() > 0:
		return
	}
	v.makeTestNets(tests, found)
	if len(v.testNets) == len(tests) {
		found.field(v.file, v.findBest())
	}
	if found.err() == nil {
		v.log.Info("Solver scaffolding done.")
	}
}

// makeTrainNet makes the training net, and its replicas on further core groups.
func (v *Solver) makeTrainNet(train netSource, found *faults) {
	v.log.Infof("Creating training net from %v.", train)
	v.device = v.newDevice(v.seed)
	v.device.Share = v.share(0)
	n, err := train.build(swnet.Options{Device: v.device, Economise: true, Arena: v.arena})
	if err != nil {
		found.add(err)
		return
	}
	v.net = n
	if v.param.GetSnapshotFormat() == caffepb.SolverParameter_HDF5 {
		if err := caffeh5.Check(n); err != nil {
			found.field(v.file, wrong("snapshot_format", "snapshot_format: HDF5: %w", err))
		}
	}
	v.group = group{net: n, part: 1}
	found.add(v.addReplicas(train))
}

func (v *Solver) makeTestNets(tests []netSource, found *faults) {
	for i, t := range tests {
		v.log.Infof("Creating test net (#%d) specified by %v", i, t)
		opt := swnet.Options{Device: v.newDevice(v.seed + uint64(i) + 1), Economise: true, Arena: v.arena, ForwardOnly: true}
		opt.Device.Share = v.testShare()
		n, err := t.build(opt)
		if err != nil {
			found.add(err)
			continue
		}
		n.SetDebugInfo(v.param.GetDebugInfo())
		v.testNets = append(v.testNets, n)
		if err := v.evaluation.CheckOutputs(n); err != nil {
			found.add(fmt.Errorf("test net #%d: %w", i, err))
			continue
		}
		v.scorers = append(v.scorers, NewScorer(n, v.testers()))
	}
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

// Iter returns the number of iterations done.
func (v *Solver) Iter() int { return v.iter }

// LastLoss returns the loss of the last iteration, the mean of its iter_size passes; LastRate returns its learning rate.
func (v *Solver) LastLoss() float64 { return v.lastLoss }
func (v *Solver) LastRate() float64 { return v.lastRate }

// Rate returns the learning rate of the next iteration.
func (v *Solver) Rate() float64 { return v.learningRate() }

// ApplyUpdate updates the weights by the gradients they have now. Step does so after its passes.
func (v *Solver) ApplyUpdate() error {
	_, err := v.applyUpdate(false)
	return err
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
