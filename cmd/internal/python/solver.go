package python

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver"
)

// Solver is a solver that Python holds.
type Solver struct {
	solver *solver.Solver
	gate   *gate
	owner  *owner
	nets   []*Net // the training net, then the test nets
	plain  bool   // the nets always keep all blobs
	runs   bool   // the solver runs; guarded by gate
	shown  shown
	watch  watch

	visible    []bool // by blob of the training net: its values outlast every run
	repeatable bool   // the training net's last run can be repeated
	stale      bool   // the last iteration left undefined values in blobs of the training net
	looked     bool   // there was one
}

// shown is the solver's state for all threads, also while one runs the solver.
type shown struct {
	mu    sync.Mutex
	state solverState
}

func (s *Solver) release() { s.owner.drop() }

// solverRequest asks for a solver.
type solverRequest struct {
	File   string   `json:"file"`
	Type   string   `json:"type"` // the type that the file must have; "": any
	Level  int32    `json:"level"`
	Stages []string `json:"stages"`
}

// solverReply describes a solver with its nets.
type solverReply struct {
	Handle Handle      `json:"handle"`
	Type   string      `json:"type"`
	Net    *netReply   `json:"net"`
	Tests  []*netReply `json:"tests"`
}

// openSolver makes the solver of a file.
func openSolver(r solverRequest) (reply *solverReply, err error) {
	defer guard(&err)
	if err := mustExist(r.File); err != nil {
		return nil, err
	}
	file, err := solver.Read(r.File, solver.Start{State: net.Asked{Level: r.Level, Stages: r.Stages}})
	if err != nil {
		return nil, err
	}
	m, err := host()
	if err != nil {
		return nil, err
	}
	log := logger()
	for _, w := range file.Warnings {
		log.Warn(w)
	}
	if r.Type != "" {
		file.Param.Type = &r.Type
	}
	v := &Solver{gate: &gate{}}
	v.watch.solver = v
	opt := solver.Options{Machine: m, Log: log, Seed: nextSeed(), Action: v.watch.action, Progress: v.watch.progress}
	opt.OnStart = func() error { return v.watch.callback(OnStart) }
	opt.OnGradients = func() error { return v.watch.callback(OnGradients) }
	turns.Lock()
	defer turns.Unlock()
	if v.solver, err = solver.New(file, opt); err != nil {
		return nil, err
	}
	v.owner = &owner{close: v.solver.Close}
	return v.reply(), nil
}

// reply gives out handles of the solver and its nets.
func (v *Solver) reply() *solverReply {
	r := &solverReply{Type: v.solver.Param().GetType(), Tests: []*netReply{}}
	hold := func(n *net.Net) *Net {
		one := &Net{net: n, gate: v.gate, owner: v.owner.hold(), solver: v}
		v.nets = append(v.nets, one)
		v.plain = v.plain || hasPython(n)
		return one
	}
	n := v.solver.Net()
	for id := range n.BlobNames() {
		v.visible = append(v.visible, n.Visible(id))
	}
	v.repeatable = repeatable(n)
	r.Net = hold(n).reply(caffepb.Phase_TRAIN)
	for _, n := range v.solver.TestNets() {
		r.Tests = append(r.Tests, hold(n).reply(caffepb.Phase_TEST))
	}
	v.owner.hold()
	v.show()
	r.Handle = objects.add(v)
	return r
}

// run runs f, which runs the solver.
func (v *Solver) run(f func() error) (err error) {
	defer guard(&err)
	debug.SetPanicOnFault(true) // as the machine's own goroutines do
	if err := v.gate.enter(true); err != nil {
		return err
	}
	defer v.gate.leave(true)
	if v.runs { // a callback calls
		return &Fault{Kind: "RuntimeError", Text: running}
	}
	v.runs = true
	defer func() { v.runs = false }()
	defer v.show()
	return inTurn(func() error {
		v.watch.begin()
		v.hook(true)
		defer v.hook(false)
		if err := f(); err != nil {
			v.stale = false // blobs have the values of an unfinished iteration, or none
			return err
		}
		return v.watch.failed
	})
}

// change runs f, which changes weights, after all blobs of the last iteration have been computed.
func (v *Solver) change(f func() error) error {
	return v.run(func() error { return errors.Join(v.settle(), f()) })
}

// look runs f, which reads or changes the solver between its runs, or in a callback.
func (v *Solver) look(f func() error) (err error) {
	defer guard(&err)
	if err := v.gate.enter(false); err != nil {
		return err
	}
	defer v.gate.leave(false)
	return f()
}

// Step runs iterations. It returns the loss and the learning rate of the last one.
func Step(h Handle, iterations int) (loss, rate float64, err error) {
	defer guard(&err)
	v, err := find[*Solver](h)
	if err != nil {
		return 0, 0, err
	}
	if iterations < 0 {
		return 0, 0, invalid("step: %d iterations", iterations)
	}
	err = v.run(func() error {
		err := v.solver.Step(iterations)
		loss, rate = v.solver.LastLoss(), v.solver.LastRate()
		return err
	})
	return loss, rate, err
}

// solve trains to max_iter, from a snapshot if one is given.
func (v *Solver) solve(snapshot string) error {
	return v.run(func() error {
		if snapshot != "" {
			if err := errors.Join(v.settle(), v.restore(snapshot)); err != nil {
				return err
			}
		}
		return v.solver.Solve()
	})
}

func (v *Solver) restore(file string) error {
	if err := mustExist(file); err != nil {
		return err
	}
	return v.solver.Restore(file)
}

// solverState is what Python asks for one by one.
type solverState struct {
	Iter          int     `json:"iter"`
	Rate          string  `json:"lr"` // may be no number
	MaxIter       int32   `json:"max_iter"`
	Display       int32   `json:"display"`
	LayerWise     bool    `json:"layer_wise_reduce"`
	BaseLR        float32 `json:"base_lr"`
	SnapshotsFrom string  `json:"snapshot_prefix"`
}

// state returns the solver's state. It may be called while another thread runs the solver, to watch its progress.
func (v *Solver) state() solverState {
	v.shown.mu.Lock()
	defer v.shown.mu.Unlock()
	return v.shown.state
}

// show updates what state returns.
func (v *Solver) show() {
	p := v.solver.Param()
	state := solverState{
		v.solver.Iter(), fmt.Sprint(v.solver.Rate()), p.GetMaxIter(), p.GetDisplay(), p.GetLayerWiseReduce(), p.GetBaseLr(), p.GetSnapshotPrefix(),
	}
	v.shown.mu.Lock()
	defer v.shown.mu.Unlock()
	v.shown.state = state
}

// setting is a field of the solver to change.
type setting struct {
	Field string  `json:"field"`
	Value float64 `json:"value"`
}

func (v *Solver) set(s setting) error {
	return v.look(func() error {
		p := v.solver.Param()
		rate, count := float32(s.Value), int32(s.Value)
		switch s.Field {
		case "base_lr":
			p.BaseLr = &rate
		case "max_iter":
			p.MaxIter = &count
		case "display":
			p.Display = &count
		default:
			return fmt.Errorf("the solver's field %q cannot be set", s.Field)
		}
		v.show()
		return nil
	})
}
