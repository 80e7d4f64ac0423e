package train

import (
	"encoding/hex"
	"errors"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/app/elastic"
	"github.com/swcaffe/swcaffe/solver"
	"github.com/swcaffe/swcaffe/topology"
)

// outliving is a worker's training over the epochs of package elastic. Each epoch has a solver of its own, which continues from the state that
// the last one has left in memory.
type outliving struct {
	o       *trainOptions
	e       *cli.Env
	actions *signals
	spec    cpe.Spec
	seed    uint64

	solver    *solver.Solver // of the last epoch
	free      func()         // what belongs to it
	log       *logrus.Logger
	team      *solver.Team
	carried   *solver.Carried
	completed atomic.Int64
	shows     role
}

// role is who receives the events of a run: the first worker's process has the receivers, the others only help to trace.
type role int

const (
	noRole role = iota
	firstRole
	otherRole
)

// elasticWork is the work of a process that a command with -elastic or -join has started.
func (o *trainOptions) elasticWork(e *cli.Env, actions *signals, spec cpe.Spec) error {
	self := o.elastic.self
	host, _ := os.Hostname()
	program, err := cli.ProgramSum()
	if err != nil {
		return err
	}
	t := &outliving{o: o, e: e, actions: actions, spec: spec, seed: o.device.SeedOrTime(), free: func() {}}
	t.completed.Store(-1)
	o.events.among = true
	defer o.events.done()
	defer func() { t.free() }()
	w := elastic.Worker{Coordinator: self.Coordinator, Word: self.Word, Program: hex.EncodeToString(program), Flags: strings.Join(o.workers.terms(), " "), Host: host, PID: os.Getpid(), Network: &roads{to: self.Coordinator}}
	if self.Parent != 0 {
		w.Gone = func() bool { return os.Getppid() != self.Parent }
	}
	err = w.Run(t)
	if errors.Is(err, elastic.ErrEnded) && o.elastic.join == "" {
		t.free()
		topology.Exit(1) // the command itself says why
	}
	return err
}

// Iteration implements elastic.Training.
func (t *outliving) Iteration() int { return int(t.completed.Load()) }

// Version implements elastic.Training.
func (t *outliving) Version() int {
	if t.carried == nil {
		return t.Iteration()
	}
	return t.carried.Version()
}

// State implements elastic.Training.
func (t *outliving) State() ([]byte, error) {
	if err := t.keep(); err != nil {
		return nil, err
	}
	return t.carried.Marshal()
}

// keep takes the state out of the last epoch's solver.
func (t *outliving) keep() error {
	if t.solver == nil {
		return nil
	}
	c, err := t.solver.Carry()
	if err == nil && c != nil {
		t.carried = c
		t.completed.Store(int64(c.Iter()))
	}
	return err
}

// Train implements elastic.Training.
func (t *outliving) Train(epoch elastic.Epoch) error {
	if err := t.keep(); err != nil {
		return err
	}
	t.free()
	t.solver, t.free = nil, func() {}
	if epoch.State != nil {
		var err error
		if t.carried, err = solver.UnmarshalCarried(epoch.State); err != nil {
			return err
		}
		t.completed.Store(int64(t.carried.Iter()))
	}
	t.log = cli.RankLog(t.e, epoch.Mesh.Rank())
	t.actions.tell(t.log)
	if err := t.show(epoch); err != nil {
		return err
	}
	mesh, stop := topology.TellWaits(epoch.Mesh, func(line string) { t.e.Log.Warn(line) })
	defer stop()
	t.team = t.o.workers.team(mesh, topology.Flat(epoch.Mesh.Size()), sinceNow())
	disconnect := func(error) {}
	if tracer := t.o.workers.tracer; tracer != nil {
		disconnect = tracer.connect(epoch.Mail)
	}
	err := t.begin()
	if err == nil {
		err = t.o.solve(t.e, t.actions, t.solver, t.team, t.log)
	}
	disconnect(err)
	if t.solver != nil {
		err = errors.Join(err, t.keep())
	}
	return err
}

// pagePatience is how long a new first worker tries to open the page, whose port the last one may still hold.
const pagePatience = 2 * time.Second

// show opens the receivers of events in the process of the first worker. They stay while it is the first one. If a later first worker cannot open the page,
// for instance on another computer, the training goes on without.
func (t *outliving) show(epoch elastic.Epoch) error {
	f, rank, shows := &t.o.events, epoch.Mesh.Rank(), otherRole
	if rank == 0 {
		shows = firstRole
	}
	if shows == t.shows {
		if f.tracer != nil {
			f.tracer.restart(rank)
		}
		return nil
	}
	open := func() error {
		f.done()
		return f.open(t.e, rank, epoch.Number > 1 || t.o.snapshot != "", false, t.actions)
	}
	err := open()
	if epoch.Number > 1 && f.http != "" {
		for begun := time.Now(); err != nil && time.Since(begun) < pagePatience; err = open() {
			time.Sleep(pagePatience / 10)
		}
		if err != nil {
			t.e.Log.Warnf("The page moves to this computer, but does not open: %v; training goes on without it", err)
			f.http, f.metrics, f.token, f.labels = "", false, "", ""
			err = open()
		}
	}
	t.shows, t.o.workers.tracer = shows, f.tracer
	return err
}

// begin makes the epoch's solver. Only the first one tells in the log of how it is made.
func (t *outliving) begin() error {
	seed := t.seed
	if t.carried != nil {
		seed = t.carried.Seed()
		level := t.log.Level
		t.log.SetLevel(logrus.WarnLevel)
		defer t.log.SetLevel(level)
	}
	s, free, err := t.o.build(t.e, t.actions, t.spec, seed, t.team, t.log, func(opt *solver.Options) {
		opt.Carries = func(err error) bool { return errors.Is(err, topology.ErrAborted) }
		opt.Action = t.actions.next
		progress := opt.Progress
		opt.Progress = func(testing bool, done, of int) {
			if !testing {
				t.completed.Store(int64(done))
			}
			if progress != nil {
				progress(testing, done, of)
			}
		}
	})
	if err != nil {
		return err
	}
	t.solver, t.free = s, free
	if t.carried != nil {
		return s.Resume(t.carried)
	}
	return errors.Join(t.o.load(s, t.log), t.o.strategies.Check(t.log, s.Net()))
}

// Rescue implements elastic.Training.
func (t *outliving) Rescue(why error) {
	if t.solver != nil {
		_ = t.solver.Rescue(why) // its result is in the log
		logRescue(t.e.Log, t.solver, t.o.resumption(t.e, t.team), false)
	}
}

// roads are connections by TCP. A worker listens at the address by which it reaches the coordinator, where the others reach it too.
type roads struct{ to string }

// dialing is how long a connection may take.
const dialing = 10 * time.Second

// Listen implements elastic.Network.
func (r *roads) Listen() (net.Listener, error) {
	conn, err := net.DialTimeout("tcp", r.to, dialing)
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(conn.LocalAddr().String())
	conn.Close()
	if err != nil {
		return nil, err
	}
	return net.Listen("tcp", net.JoinHostPort(host, "0"))
}

// Dial implements elastic.Network.
func (r *roads) Dial(address string) (net.Conn, error) {
	return net.DialTimeout("tcp", address, dialing)
}
