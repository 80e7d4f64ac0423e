// Package train has the train command: one worker, several in this process, MPI processes, or workers on a simulated cluster.
//
// trainOptions are its flags. workerFlags say how many workers train and how they communicate, and call the training of each. simulation
// gives workers virtual time on a modelled machine and network. signals turns SIGINT, SIGTERM, SIGUSR1 and SIGHUP into actions of the solver. eventFlags
// say who receives the events of a run; a status is one of the receivers, for terminals.
//
// The command lr_find, in lr_find.go, trains with a growing rate. A sweep, in sweep.go, is the losses of such a training.
package train

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/solver"
)

// Train declares train.
var Train = cli.Command{
	Name:     "train",
	Synopsis: "train or finetune a model",
	Args:     "-solver FILE [-weights FILES | -snapshot FILE] [-workers P] [-workers_strategy S] [-strategy NAME | -tune FILE]",
	Example:  "swcaffe train -solver models/lenet/solver.prototxt",
	Help: `Trains the net that a solver prototxt names. SIGINT, SIGTERM and SIGUSR1 stop training after the current iteration, with a snapshot if the
solver writes one at its end; SIGUSR1 is the one that every mpirun passes on to its processes. SIGHUP writes a snapshot. -sigint_effect,
-sigterm_effect, -sigusr1_effect and -sighup_effect change this. After a stop, the log has the command line that resumes the run. An error
writes a snapshot of the last whole iteration too, unless the solver writes none at all or the weights hold NaN; the exit code is 1. No later
signal revokes a stop. Before the first iteration, a stop signal ends the process at once. If the reader of the log goes away, training
continues without a log.

A snapshot that cannot be written for a reason that may pass, as a full disk or a full table of files, is tried again some times, and then
after 1, 2, 4, ... further iterations, while training goes on. If none could be written until the end, the exit code is 1.

Before the first iteration train reports all faults together, as check does: in the solver's fields, in nets, data and weights, and missing
space or permission for snapshots.

On a terminal, lines below the log show progress, the curve of the loss, learning rate, speed, the time left, the share of time spent
waiting for data, and the last test. They disappear when training ends. Files, pipes and terminals with TERM=dumb get only the log.

Losses differ from Caffe's by rounding. Training amplifies the differences, most with Adam and RMSProp. Winograd convolutions, the default
where they are faster, round more than plain sums. -strategy implicit comes about as close to Caffe as Caffe with another BLAS; -engine
mpe is closest, but slow. docs/caffe.md has figures.

With -workers P, or under mpirun in the build with -tags mpi, P workers train together. With -workers_strategy sync they split every
batch, add up their gradients and stay equal bit by bit. The result is that of one worker up to rounding. A snapshot can be resumed with
another number of workers. With -elastic MIN:MAX workers may be lost and come back: the training goes on from the last iteration with those
that are left.

The solver's snapshot_best: "accuracy" writes PREFIX_best.caffemodel and PREFIX_best.solverstate after every test in which this output of a
test net is better than in all tests before. The new files are complete, as PREFIX_best_new.*, before they replace the old ones; if the
process is killed in between, the next run with this prefix completes the replacement. stop_after: N ends training after N tests in a row
without a better value. A resumed run remembers the best value.

-tune FILE measures all families of convolution algorithms in the first two iterations, continues with the fastest, and records it in the
file. Runs that find all their convolutions in the file are as deterministic as runs without -tune.`,
	Joins: true,
	Do:    cli.With(trainFlags, train),
}

func trainFlags(fs *flag.FlagSet, o *trainOptions) {
	cli.StringVar(fs, &o.solver, "solver", "", "the solver definition `FILE` (prototxt)", cli.Prototxt)
	cli.StringVar(fs, &o.weights, "weights", "", "pretrained weights to start from: .caffemodel `FILES`, separated by commas", cli.Weights)
	cli.StringVar(fs, &o.snapshot, "snapshot", "", "the solver state `FILE` to resume from; auto: the newest whole one that this solver has written, or none", cli.SolverState.OrFiles(cli.OneOf(newestSnapshot)))
	cli.StringVar(fs, &o.sigint, "sigint_effect", "stop", "what a SIGINT does: snapshot, stop or none", effectNames)
	cli.StringVar(fs, &o.sigterm, "sigterm_effect", "stop", "what a SIGTERM (of timeout, or of a batch system) does: snapshot, stop or none", effectNames)
	cli.StringVar(fs, &o.sigusr1, "sigusr1_effect", "stop", "what a SIGUSR1 (passed on by mpirun) does: snapshot, stop or none", effectNames)
	cli.StringVar(fs, &o.sighup, "sighup_effect", "snapshot", "what a SIGHUP does: snapshot, stop or none", effectNames)
	o.device.Register(fs)
	o.state.Register(fs)
	o.workers.register(fs)
	o.elastic.register(fs)
	o.strategies.Register(fs, true)
	o.events.register(fs)
	fs.StringVar(&o.convStrategy, "conv_strategy", "", "the old name of -strategy `NAME`")
}

type trainOptions struct {
	solver, weights, snapshot        string
	sigint, sigterm, sigusr1, sighup string
	device                           cli.DeviceFlags
	state                            cli.StateFlags
	workers                          workerFlags
	elastic                          elasticFlags
	strategies                       cli.StrategyFlags
	events                           eventFlags
	convStrategy                     string // the old name of -strategy
	machineText                      string // of a modelled machine
	finetunes                        bool   // log what becomes of every layer
}

func train(e *cli.Env, o *trainOptions) error {
	if o.solver == "" {
		return cli.Usagef("need a solver definition to train: -solver FILE")
	}
	if o.weights != "" && o.snapshot != "" && o.snapshot != newestSnapshot {
		return cli.Usagef("give a snapshot to resume training or weights to finetune, but not both")
	}
	if strings.Contains(o.device.GPU, ",") || o.device.GPU == "all" {
		return cli.Usagef("-gpu %s: there is no GPU in this build, and Caffe would multiply the batch by the number of GPUs; leave the flag out", o.device.GPU)
	}
	o.device.Subject = "solver"
	log := cli.RankLog(e, e.LaunchedRank())
	if err := o.oldNames(log); err != nil {
		return err
	}
	if err := o.elastic.check(o); err != nil {
		return err
	}
	if err := o.workers.check(e); err != nil {
		return err
	}
	if o.elastic.used() && o.elastic.self == nil {
		return o.supervise(e)
	}
	if o.elastic.self != nil {
		log = layers.NoLog() // the first worker is not known yet
	}
	actions, err := watchSignals(o, log)
	if err != nil {
		return err
	}
	if err := o.readMachine(); err != nil {
		return err
	}
	spec, err := o.spec(&cli.Env{Log: log})
	if err != nil {
		return err
	}
	if err := o.findNewest(log); err != nil {
		return err
	}
	if o.elastic.self != nil {
		defer actions.finish()
		return o.elasticWork(e, actions, spec)
	}
	defer o.events.done()
	if err := o.events.open(e, e.LaunchedRank(), o.snapshot != "", o.workers.alone(), actions); err != nil {
		return err
	}
	o.workers.tracer = o.events.tracer
	seed := o.device.SeedOrTime()
	defer actions.finish()
	return o.workers.run(e, func(team *solver.Team, log *logrus.Logger) error { return o.work(e, actions, spec, seed, team, log) })
}

// work is one worker's training. Of several in one process only the first is told of signals.
func (o *trainOptions) work(e *cli.Env, actions *signals, spec cpe.Spec, seed uint64, team *solver.Team, log *logrus.Logger) error {
	s, free, err := o.build(e, actions, spec, seed, team, log, nil)
	if err != nil {
		return err
	}
	defer free()
	leave, err := holdPrefix(s)
	if err != nil {
		return err
	}
	defer leave()
	if err := errors.Join(o.load(s, log), o.strategies.Check(log, s.Net())); err != nil {
		return err
	}
	return o.solve(e, actions, s, team, log)
}

// build makes a worker's solver, and a function that frees what belongs to it. adjust, if not nil, changes its options.
func (o *trainOptions) build(e *cli.Env, actions *signals, spec cpe.Spec, seed uint64, team *solver.Team, log *logrus.Logger, adjust func(*solver.Options)) (s *solver.Solver, free func(), err error) {
	file, err := o.read(log)
	if err != nil {
		return nil, nil, err
	}
	machines, err := o.workers.machines(spec)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			closeAll(machines)
		}
	}()
	force, tuner, err := o.strategies.Read(&cli.Env{Log: log}, o.device.Engine, spec)
	if err != nil {
		return nil, nil, err
	}
	if tuner != nil && (team != nil || len(machines) > 1) {
		return nil, nil, cli.Usagef("-tune needs one worker and one core group: parallel measurements disturb each other; tune one worker first, then give its choice to all with -strategy")
	}
	opt := solver.Options{
		Engine: o.device.Engine, Machine: machines[0], CoreGroups: machines[1:], Team: team, Log: log, Seed: seed,
		Force: force, Tuner: tuner, Parts: o.workers.here(),
	}
	o.attach(e, &opt, actions)
	unwatch := func() {}
	if opt.Events != nil {
		unwatch = o.events.watch(&opt, func() *solver.Solver { return s })
	}
	if t := o.events.tracer; t != nil {
		t.attach(&opt, func() *solver.Solver { return s })
	}
	if adjust != nil {
		adjust(&opt)
	}
	made, err := solver.New(file, opt)
	if err != nil {
		unwatch()
		return nil, nil, errors.Join(err, o.findSnapshot())
	}
	s = made
	return s, func() {
		s.Close()
		unwatch()
		closeAll(machines)
	}, nil
}

// solve trains.
func (o *trainOptions) solve(e *cli.Env, actions *signals, s *solver.Solver, team *solver.Team, log *logrus.Logger) error {
	o.strategies.Log(log, s.Net(), o.device.Engine)
	actions.begin()
	debug.FreeOSMemory() // of what making the nets has left behind; see freeing for the first iteration
	log.Info("Starting Optimization")
	if err := s.Solve(); err != nil {
		logRescue(log, s, o.resumption(e, team), o.events.token != "")
		return err
	}
	logResumption(log, s, o.resumption(e, team), o.events.token != "")
	return nil
}

// holdPrefix keeps other trainings from writing snapshots of the same names until free is called, or this process ends.
func holdPrefix(s *solver.Solver) (free func(), err error) {
	if !s.Snapshots() {
		return func() {}, nil
	}
	_, free, err = holdNames(s.Param().GetSnapshotPrefix())
	return free, err
}

// holdNames is holdPrefix for a snapshot_prefix. held, nil where the system has no locks, is what holds it.
func holdNames(prefix string) (held *os.File, free func(), err error) {
	folder, err := cli.NewTemporary(prefix)
	if errors.Is(err, cli.ErrTaken) {
		err = fmt.Errorf("%w; two trainings would overwrite each other's snapshots: give one of them a snapshot_prefix of its own", err)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("snapshot_prefix %q: %w", prefix, err)
	}
	return folder.Lock(), func() { folder.Remove() }, nil
}

// load reads the state to resume from, and logs where weights come from.
func (o *trainOptions) load(s *solver.Solver, log *logrus.Logger) error {
	if o.finetunes {
		if err := logOrigins(log, s, o.weights); err != nil {
			return err
		}
	}
	if o.snapshot == "" {
		return nil
	}
	return s.Restore(o.snapshot)
}

// attach connects a worker's solver with signals, the terminal and the receivers of events.
func (o *trainOptions) attach(e *cli.Env, opt *solver.Options, actions *signals) {
	first := opt.Team == nil || opt.Team.Transport.Rank() == 0
	if first || o.workers.transport == cli.TransportMPI {
		opt.Action = actions.next
	}
	if !first {
		return
	}
	opt.Progress = e.Pulse.Solving
	if o.events.status != nil {
		opt.Progress = o.events.status.progress
	}
	opt.Progress = freeing(opt.Progress)
	opt.Events, opt.MachineText = o.events.stream, o.machineText
}

// freeing returns the memory that the first iteration has left behind to the system, before it reports the progress of the second one. Later
// iterations allocate next to nothing, so that no collection would.
func freeing(progress func(testing bool, done, of int)) func(testing bool, done, of int) {
	iterations := 0
	return func(testing bool, done, of int) {
		if !testing {
			iterations++
			if iterations == 2 {
				debug.FreeOSMemory()
			}
		}
		progress(testing, done, of)
	}
}

// findSnapshot returns an error if the state to resume from is not there.
func (o *trainOptions) findSnapshot() error {
	if o.snapshot == "" {
		return nil
	}
	if _, err := os.Stat(o.snapshot); err != nil {
		return fmt.Errorf("-snapshot: %w", err)
	}
	return nil
}
