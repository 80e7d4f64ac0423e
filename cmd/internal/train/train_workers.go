package train

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/solver"
	"github.com/swcaffe/swcaffe/topology"
)

// workerFlags are the number of workers and the flags for their cooperation.
type workerFlags struct {
	workers, coreGroups, checkEvery int
	expected                        int // -workers_expected; 0: any number
	tau                             int
	rho                             float64
	strategy, allreduce, transport  string
	bucketMB                        float64
	cluster                         string

	agree      func(job *topology.MPIJob) error // what processes agree on before their work
	simulation *simulation                      // for transport sim
	tracer     *tracer                          // nil: none
}

func (w *workerFlags) register(fs *flag.FlagSet) {
	fs.IntVar(&w.workers, "workers", 0, "the number of workers (default 1; under mpirun, the number of its processes)")
	cli.ExpectVar(fs, &w.expected)
	fs.IntVar(&w.coreGroups, "core_groups", 1, "the core groups inside a worker that split its items, each with gradients of its own")
	cli.StringVar(fs, &w.strategy, "workers_strategy", solver.Sync, "how workers train together: one of "+fmt.Sprint(solver.Strategies()), cli.OneOf(solver.Strategies()...))
	fs.IntVar(&w.tau, "tau", 1, "strategies other than sync: communicate every `T` iterations")
	fs.Float64Var(&w.rho, "rho", 0, "EASGD: the strength of the elastic force (0: 0.9/P over base_lr)")
	cli.StringVar(fs, &w.allreduce, "allreduce", topology.Auto, "how gradients are added up: one of "+fmt.Sprint(topology.Algorithms())+"; dynamic picks by the clock, so that last bits differ between runs", cli.OneOf(topology.Algorithms()...))
	fs.Float64Var(&w.bucketMB, "bucket_mb", 0, "sum gradients in buckets of at least so many MB (1e6 bytes) while Backward goes on; 0: in one message after it")
	fs.IntVar(&w.checkEvery, "check_every", 100, "compare the workers' weights bit by bit every so many iterations (0: only at the start)")
	cli.StringVar(fs, &w.transport, "transport", "", "how workers communicate: local (in this process), mpi, or sim (in this process, in virtual time) (default: mpi under mpirun, else local)", cli.OneOf(cli.TransportLocal, cli.TransportMPI, cli.TransportSim))
	cli.StringVar(fs, &w.cluster, "cluster", "", "sim: a cluster's `NAME`, or a cluster file", cli.OneOf(topology.ClusterNames()...).OrFiles(cli.Prototxt))
}

// check sets defaults and validates the flags.
func (w *workerFlags) check(e *cli.Env) error {
	if w.transport == "" {
		w.transport = cli.TransportLocal
		if e.UnderMPI() {
			w.transport = cli.TransportMPI
		}
	}
	if err := solver.CheckStrategy(w.strategy); err != nil {
		return cli.Usagef("-workers_strategy: %w", err)
	}
	switch {
	case w.transport != cli.TransportLocal && w.transport != cli.TransportMPI && w.transport != cli.TransportSim:
		return cli.Usagef("-transport %q: use local, mpi or sim", w.transport)
	case w.transport != cli.TransportMPI && e.UnderMPI():
		return cli.Usagef("-transport %s: %s, and each would train alone; leave the flag out", w.transport, e.World().Among())
	case (w.cluster != "") != (w.transport == cli.TransportSim):
		return cli.Usagef("-cluster and -transport sim need each other")
	case w.transport == cli.TransportSim && w.workers < 1:
		return cli.Usagef("-transport sim needs -workers P")
	case w.transport == cli.TransportLocal && w.workers < 1 && w.strategy != solver.Sync:
		return cli.Usagef("-workers_strategy %s needs -workers P", w.strategy)
	case w.transport == cli.TransportSim && w.coreGroups > 1:
		return cli.Usagef("-core_groups: with -transport sim the modelled machine's core groups share the work of a worker anyway")
	case w.workers < 0 || w.workers > cli.MaxLocalRanks:
		return cli.Usagef("-workers %d: must be between 1 and %d", w.workers, cli.MaxLocalRanks)
	case w.coreGroups < 1 || w.coreGroups > cli.MaxLocalRanks:
		return cli.Usagef("-core_groups %d: must be between 1 and %d", w.coreGroups, cli.MaxLocalRanks)
	case !cli.IsSize(w.bucketMB):
		return cli.Usagef("-bucket_mb %g: must be a size, or 0", w.bucketMB)
	case w.tau < 1:
		return cli.Usagef("-tau %d: must be at least 1", w.tau)
	case !(w.rho >= 0) || math.IsInf(w.rho, 1):
		return cli.Usagef("-rho %g: must be a number of at least 0", w.rho)
	case w.strategy == solver.Sync && w.tau > 1:
		return cli.Usagef("-tau %d: sync adds up gradients in every iteration; -tau is for another -workers_strategy", w.tau)
	case w.strategy == solver.Sync && w.rho > 0:
		return cli.Usagef("-rho %g: sync has no elastic force; -rho is for another -workers_strategy", w.rho)
	case w.checkEvery < 0:
		return cli.Usagef("-check_every %d: cannot be negative", w.checkEvery)
	}
	if err := topology.CheckAlgorithm(w.allreduce); err != nil {
		return cli.Usagef("-allreduce: %w", err)
	}
	if w.transport == cli.TransportMPI {
		return nil
	}
	return cli.CheckExpected(w.expected, max(1, w.workers))
}

// alone reports whether there is a single worker, without a team.
func (w *workerFlags) alone() bool {
	return w.transport == cli.TransportLocal && w.workers <= 1 && w.strategy == solver.Sync
}

// here returns the number of workers in this process.
func (w *workerFlags) here() int {
	if w.transport == cli.TransportMPI {
		return 1
	}
	return w.workers
}

// run calls work for every worker of this process, each with its own team and log. A single worker has no team (nil).
func (w *workerFlags) run(e *cli.Env, work func(t *solver.Team, log *logrus.Logger) error) error {
	switch w.transport {
	case cli.TransportMPI:
		return cli.InJob(e, w.expected, func(job *topology.MPIJob) (err error) {
			if w.workers != 0 && w.workers != job.Size() {
				return fmt.Errorf("-workers %d: the MPI job has %d processes", w.workers, job.Size())
			}
			if err := w.agree(job); err != nil {
				return err
			}
			if w.tracer != nil {
				disconnect := w.tracer.connect(job)
				defer func() { disconnect(err) }()
			}
			log := cli.RankLog(e, job.Rank())
			w.warnOfClock(log)
			return work(w.team(job, topology.Flat(job.Size()), sinceNow()), log)
		})
	case cli.TransportSim:
		return ownError(w.simulation.run(e, w, work))
	}
	if w.alone() {
		return work(nil, e.Log)
	}
	w.warnOfClock(e.Log)
	return ownError(topology.NewLocal(w.workers).Run(func(t topology.Transport) error {
		t, stop := topology.TellWaits(t, func(line string) { e.Log.Warn(line) })
		defer stop()
		return work(w.team(t, topology.Flat(w.workers), sinceNow()), cli.RankLog(e, t.Rank()))
	}))
}

// warnOfClock says that results depend on the clock, which they do nowhere else.
func (w *workerFlags) warnOfClock(log *logrus.Logger) {
	if w.allreduce == topology.Measured {
		log.Warn("-allreduce dynamic picks by the clock among algorithms that add up in different orders: last bits differ from run to run and in a resumed run")
	}
}

// sinceNow returns a clock that measures time from now on.
func sinceNow() func() topology.VTime {
	start := time.Now()
	return func() topology.VTime { return topology.VTime(time.Since(start).Seconds()) }
}

// team connects a worker to a transport. Allreduce dynamic measures by the clock now.
func (w *workerFlags) team(t topology.Transport, layout topology.Layout, now func() topology.VTime) *solver.Team {
	if w.tracer != nil && w.transport != cli.TransportSim {
		t = w.tracer.watch(t, solver.HasCentre(w.strategy))
	}
	return &solver.Team{
		Transport: t, Strategy: w.strategy, Tau: w.tau, Rho: w.rho, CheckEvery: w.checkEvery, BucketBytes: int(w.bucketMB * cli.BytesPerMB),
		Terms: w.terms(),
		NewReducer: func(n int, tree bool) solver.Reducer {
			if tree {
				return topology.NewAllReduce(t, topology.NewSchedule("binomial_tree", layout, n))
			}
			if w.allreduce == topology.Measured {
				return topology.NewDynamic(t, layout, n, now)
			}
			return topology.NewAllReduce(t, topology.NewSchedule(w.algorithm(layout, n), layout, n))
		},
	}
}

// terms are the flags that all workers must give alike: others would wait for messages that never come, or average by other rules.
func (w *workerFlags) terms() []string {
	return []string{
		"-workers_strategy " + w.strategy, fmt.Sprint("-tau ", w.tau), fmt.Sprint("-rho ", w.rho), "-allreduce " + w.allreduce,
		fmt.Sprint("-bucket_mb ", w.bucketMB), fmt.Sprint("-check_every ", w.checkEvery),
	}
}

// algorithm is the fixed algorithm for arrays of n values.
func (w *workerFlags) algorithm(l topology.Layout, n int) string {
	if w.allreduce == topology.Auto {
		spec := cli.ThisComputer
		if w.simulation != nil {
			spec = w.simulation.cluster
		}
		return topology.Choose(spec, l, cli.BytesPerValue*n)
	}
	return w.allreduce
}

// ownError unwraps an error with a solver.PeerError, a worker's report of another worker's failure, to that PeerError.
func ownError(err error) error {
	if peer := (*solver.PeerError)(nil); errors.As(err, &peer) {
		return peer
	}
	return err
}

// machines makes the machines of a worker's core groups. The workers of one process divide this computer's cores among them; of a
// modelled machine, each has its own.
func (w *workerFlags) machines(spec cpe.Spec) ([]*cpe.Machine, error) {
	parts := w.coreGroups
	if w.transport != cli.TransportMPI && cpe.DefaultMode(spec) == cpe.Native {
		parts *= max(1, w.workers)
	}
	if parts > 1 {
		spec.CoreGroups = max(1, spec.CoreGroups/parts)
	}
	var machines []*cpe.Machine
	for range w.coreGroups {
		m, err := cpe.New(spec, cpe.DefaultMode(spec))
		if err != nil {
			closeAll(machines)
			return nil, err
		}
		machines = append(machines, m)
	}
	return machines, nil
}

func closeAll(machines []*cpe.Machine) {
	for _, m := range machines {
		m.Close()
	}
}
