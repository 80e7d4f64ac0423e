package cpe

import (
	"fmt"
	"sync"

	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/internal/base/relay"
)

// Machine executes programs on the core groups of a Spec. One program runs at a time.
type Machine struct {
	spec   Spec
	mode   Mode
	groups []*CoreGroup
	ledger Ledger
	scratch
	tiles int // number of values that each core group stores for tiles; see Reserve

	workers workers
	shares  shares
	of      int // number of core groups that run the current program
	claims  claims
	failed  []failure   // of each core group in the current program
	made    map[any]any // see Recall
	observed
	survey survey
}

// failure is a program's error or panic on one core group.
type failure struct {
	err      error
	panicked *relay.Panic
}

// Program is a kernel's work on one core group. CoreGroup.Share gives the group's part of it.
type Program interface {
	// Name is the kernel's name in errors.
	Name() string
	// RunGroup computes one core group's share.
	RunGroup(g *CoreGroup) error
}

// New makes a machine. A native one keeps a goroutine for each core group until Close.
func New(spec Spec, mode Mode) (*Machine, error) {
	if mode.native() != spec.native {
		return nil, fmt.Errorf("machine %q cannot run in mode %q: this computer runs natively, all other machines are modelled", spec.Name, mode)
	}
	if spec.half && mode == Functional {
		return nil, fmt.Errorf("machine %q in half precision models costs alone: values are computed in float32", spec.Name)
	}
	if spec.Software.OnMPE && !spec.hasMPE() {
		return nil, fmt.Errorf("machine %q: its file does not describe an mpe, to which software %s leaves work", spec.Name, spec.Software.Name)
	}
	spec.DMA = spec.dmaOf(spec.CoreGroups) // plans assume that all core groups share the memory
	m := &Machine{spec: spec, mode: mode, claims: newClaims(spec.CoreGroups), failed: make([]failure, spec.CoreGroups)}
	for i := range spec.CoreGroups {
		m.groups = append(m.groups, newCoreGroup(m, i))
	}
	if mode == Native {
		m.shares = newShares(spec.CoreGroups)
		m.workers.start(m.groups[1:])
	}
	return m, nil
}

// NewHost makes a machine of this computer that computes on a number of its cores; 0: on as many as Go uses (runtime.GOMAXPROCS). It is a budget:
// several machines that together have as many cores as the computer run at the same time without waiting for one another. Results do not
// depend on the number.
func NewHost(cores int) (*Machine, error) {
	spec, err := Load("host")
	if err != nil {
		return nil, err
	}
	if err := CheckCores(cores); err != nil {
		return nil, fmt.Errorf("cores: %w", err)
	}
	if cores > 0 {
		spec.CoreGroups = cores
	}
	return New(spec, DefaultMode(spec))
}

// Close ends the core groups' goroutines. The machine must not be used afterwards.
func (m *Machine) Close() { m.workers.stop() }

// Spec returns the machine's description.
func (m *Machine) Spec() Spec { return m.spec }

// Native reports whether the machine is this computer.
func (m *Machine) Native() bool { return m.mode.native() }

// HasDMA reports whether CPEs compute on copies in LDM; see Spec.HasDMA.
func (m *Machine) HasDMA() bool { return m.spec.HasDMA() }

// Values reports whether kernels read and write values. If not, arrays may be nil.
func (m *Machine) Values() bool { return m.mode.values() }

// Ledger returns the costs since the last ResetLedger.
func (m *Machine) Ledger() Ledger { return m.ledger }

// Recall returns the value that build made for this key on this machine, calling build only the first time. Keys have a type of their
// caller's, as those of a context.
func (m *Machine) Recall(key any, build func() (any, error)) (any, error) {
	if v, ok := m.made[key]; ok {
		return v, nil
	}
	v, err := build()
	if err != nil {
		return nil, err
	}
	if m.made == nil {
		m.made = map[any]any{}
	}
	m.made[key] = v
	return v, nil
}

// Charge adds the costs of a run on an identical machine.
func (m *Machine) Charge(l *Ledger) {
	m.ledger.addTimes(l, 1)
	m.ledger.addTotals(l, 1)
}

// CostsAlone reports whether only the ledger counts: no values are computed and no CPE's use is traced.
func (m *Machine) CostsAlone() bool { return !m.Values() && !m.tracing }

// ResetLedger sets all charges to zero.
func (m *Machine) ResetLedger() { m.ledger = Ledger{} }

// Run runs a program on the first groups core groups (all, if groups is 0 or more than there are), and returns when all are done. Of several
// errors it returns that of the group with the lowest number. A panic on any core group is raised in the caller's goroutine, as a *relay.Panic,
// when all are done. On a modelled machine it charges one start of the CPEs' threads, unless the program leaves all its work to the management
// cores.
func (m *Machine) Run(p Program, groups int) error { return m.run(p, groups, m.spec.StartTime()) }

// Resume runs a program as Run does, and charges no start: the threads are those of an earlier Run, which go on with another part of its work.
func (m *Machine) Resume(p Program, groups int) error { return m.run(p, groups, 0) }

func (m *Machine) run(p Program, groups int, start VTime) error {
	if m.mode == Planned {
		panic("cpe: a planned machine was asked to run " + p.Name())
	}
	if groups <= 0 || groups > len(m.groups) {
		groups = len(m.groups)
	}
	asked := groups
	if m.surveys() {
		groups = 1
	}
	m.of = groups
	begun := m.ledger.Time
	if m.mode.native() {
		m.runNative(p, groups)
		m.survey.tell(p, asked, m.groups[0])
	} else {
		begun += m.runModelled(p, groups, start)
	}
	m.tell(p, groups, begun)
	for i := range m.failed[:groups] {
		if err := m.failed[i].err; err != nil {
			clear(m.failed)
			return fmt.Errorf("kernel %s, core group %d: %w", p.Name(), i, err)
		}
	}
	return nil
}

// raise raises the panic of the core group with the lowest number, if there is one. The machine can be used again after it.
func (m *Machine) raise(groups int) {
	for i := range m.failed[:groups] {
		if p := m.failed[i].panicked; p != nil {
			for _, g := range m.groups[:groups] {
				g.Free()
			}
			clear(m.failed)
			p.Raise()
		}
	}
}

// GroupsFor returns how many core groups, for Run, a program should have that does some amount of work: one if it is less than least,
// otherwise one for each half of that. Each core of this computer takes time to start. A modelled machine starts all core groups (0) in the time of one.
func (m *Machine) GroupsFor(work, least int) int {
	if !m.mode.native() {
		return 0
	}
	return max(1, min(len(m.groups), work/least*2))
}

func (m *Machine) runNative(p Program, groups int) {
	m.claims.begin()
	m.workers.begin(p, groups-1)
	m.groups[0].run(p)
	m.workers.end(groups - 1)
	m.raise(groups)
	if groups > 1 && groups == len(m.groups) {
		m.shares.learn(m.groups)
	}
}

// runModelled runs the groups, which are concurrent in modelled time, and adds their costs in order. If values move, they also run
// concurrently on this computer. It returns what it charged for the start of threads: start, or nothing if no CPE was needed.
func (m *Machine) runModelled(p Program, groups int, start VTime) VTime {
	run := func(g *CoreGroup) {
		f := &m.failed[g.index]
		defer relay.Catch(&f.panicked)
		g.tiles = room(g.tiles, m.tiles)
		g.reset()
		f.err = p.RunGroup(g)
		g.Sync()
	}
	var wait sync.WaitGroup
	for _, g := range m.groups[:groups] {
		if m.Values() && groups > 1 {
			wait.Go(func() { run(g) })
		} else {
			run(g)
		}
	}
	wait.Wait()
	m.raise(groups)
	slowest := m.groups[0]
	for _, g := range m.groups[:groups] {
		if g.ledger.Time > slowest.ledger.Time {
			slowest = g
		}
		m.ledger.addTotals(&g.ledger, 1)
	}
	m.ledger.addTimes(&slowest.ledger, 1)
	if m.leftAll(groups) {
		start = 0
	}
	m.ledger.start(start)
	return start
}

// leftAll reports whether the current program left all work of the first groups core groups to their management cores.
func (m *Machine) leftAll(groups int) bool {
	left := false
	for _, g := range m.groups[:groups] {
		if g.ledger.Time > g.ledger.MPE {
			return false
		}
		left = left || g.ledger.MPE > 0
	}
	return left
}

// Reserve reserves storage on every core group for the tiles (Take) of a kernel: the given number of values, padding included. Kernels call
// it when they are made. All kernels share the storage, since one runs at a time. The next Run allocates it, so that planning many kernels
// leaves no storage behind that was too small.
func (m *Machine) Reserve(tiles int) {
	if m.mode.memory() && tiles > m.tiles {
		pages.Demand(float64(len(m.groups)) * float64(tiles))
		m.tiles = tiles
	}
}

// room returns have if it has n values, else a new array.
func room(have []float32, n int) []float32 {
	if len(have) >= n {
		return have
	}
	return pages.Floats(n)
}

// LDMError reports that a plan needs more LDM than a CPE has.
type LDMError struct {
	Kernel      string
	Asked, Have int // bytes
}

func (e *LDMError) Error() string {
	return fmt.Sprintf("%s needs %d bytes of LDM on a CPE, there are %d", e.Kernel, e.Asked, e.Have)
}
