package cpe

import (
	"time"

	"github.com/swcaffe/swcaffe/internal/base/relay"
)

// CoreGroup is a mesh of CPEs that work together; on the host, one core.
type CoreGroup struct {
	machine *Machine
	index   int
	cpes    []*CPE
	memory  []float32 // the group's own scratch memory
	tiles   []float32 // storage for the values of tiles, of all CPEs
	taken   int       // number of values of tiles in use
	pace
	charges
}

// pace measures a group on this computer, for shares: the units of the current program that were shared, those that the group got, and its
// time.
type pace struct {
	shared, got int
	begun       time.Time
	spent       time.Duration
}

// charges are the costs of the current program.
type charges struct {
	ledger   Ledger
	active   int  // number of CPEs that use the DMA engine at once
	busy     bool // some CPE has costs of its own since the last Sync or Overlap
	rates    rateCache
	memo     memo
	sections map[section]sectionCost
	outstanding
}

// outstanding is what a core group has begun and not waited for.
type outstanding struct {
	step    cost  // cost of the mesh since the last Sync or Overlap
	later   cost  // transfers of the step after that: PutLater
	pending VTime // work of the last overlapped step, with which the next transfers overlap
}

func newCoreGroup(m *Machine, index int) *CoreGroup {
	g := &CoreGroup{machine: m, index: index}
	for i := range m.spec.CPEs() {
		c := &CPE{group: g, Row: i / m.spec.Cols, Col: i % m.spec.Cols}
		if m.mode == Functional {
			c.store = make([]float32, m.spec.LDMFloats())
		}
		g.cpes = append(g.cpes, c)
	}
	return g
}

func (g *CoreGroup) reset() {
	g.ledger, g.active, g.outstanding = Ledger{}, len(g.cpes), outstanding{}
	g.memo.forget()
	g.memo.turn = known{}
	g.busy = false
	clear(g.sections)
	for _, c := range g.cpes {
		c.Free()
		c.cost, c.charged = cost{}, false
		c.fromRow.queue, c.fromCol.queue = c.fromRow.queue[:0], c.fromCol.queue[:0]
	}
}

// Index is the group's number on its machine.
func (g *CoreGroup) Index() int { return g.index }

// Spec returns the machine's description.
func (g *CoreGroup) Spec() *Spec { return &g.machine.spec }

// HasDMA reports whether tiles are copies in LDM. If not, they alias memory.
func (g *CoreGroup) HasDMA() bool { return g.machine.HasDMA() }

// charged reports whether work is charged.
func (g *CoreGroup) charged() bool { return !g.machine.Native() }

// Values reports whether values are read and written; if not, only costs are modelled.
func (g *CoreGroup) Values() bool { return g.machine.Values() }

// CPEs returns the group's cores, row by row.
func (g *CoreGroup) CPEs() []*CPE { return g.cpes }

func (g *CoreGroup) at(row, col int) *CPE { return g.cpes[row*g.machine.spec.Cols+col] }

// Share returns this group's part lo <= i < hi of n units of work. The part is the same throughout the current program. It may be empty; then
// lo = hi may be anything from 0 to n. Results must not depend on which group computes a unit: on the host, parts are uneven (shares).
func (g *CoreGroup) Share(n int) (lo, hi int) {
	m := g.machine
	if m.surveys() {
		if m.survey.units(Units{N: n}); m.mode == Surveyed {
			return 0, 0
		}
	}
	lo, hi = m.part(g.index, n)
	g.shared, g.got = g.shared+n, g.got+hi-lo
	return lo, hi
}

// part returns a group's part of n units.
func (m *Machine) part(group, n int) (lo, hi int) {
	if m.mode != Native || m.of < len(m.groups) {
		return group * n / m.of, (group + 1) * n / m.of
	}
	return m.shares.part(group, n)
}

// run runs a program natively and records its time. A core group that does not fail writes to no line that others have.
func (g *CoreGroup) run(p Program) {
	f := &g.machine.failed[g.index]
	defer relay.Catch(&f.panicked)
	g.tiles = room(g.tiles, g.machine.tiles)
	g.shared, g.got = 0, 0
	g.begun = time.Now()
	if err := p.RunGroup(g); err != nil {
		f.err = err
	}
	g.spent = time.Since(g.begun)
}

// Memory returns n values of the group's own scratch memory.
func (g *CoreGroup) Memory(n int) []float32 {
	if !g.machine.mode.memory() {
		return nil
	}
	return g.memory[:n]
}

// Common returns n values of the scratch memory shared by all groups.
func (g *CoreGroup) Common(n int) []float32 { return g.machine.Common(n) }

// Deal sets and returns the number of CPEs that will work on n units of this group's work. The DMA engine's bandwidth depends on it.
func (g *CoreGroup) Deal(n int) int {
	g.memo.forget() // the remembered costs depend on that number
	g.active = max(1, min(n, len(g.cpes)))
	return g.active
}

// Multiply charges a product of m x k by k x n values for every CPE, with operands in its LDM or received over the buses: one run of k steps.
// first adds loading and storing a block of C, which the original's products do in every run. total is the number of operations of the whole
// mesh.
func (g *CoreGroup) Multiply(m, n, k int, first bool, product Product, total float64) {
	if !g.charged() {
		return
	}
	s := g.Spec()
	g.ledger.Flops += total
	g.step.compute += fromNs(s.multiplyNs(m, n, k, first, product))
}

// Sync ends a step of the program: every CPE has done its transfers and its work one after the other, and waits for the slowest CPE.
func (g *CoreGroup) Sync() {
	if !g.charged() {
		return
	}
	g.step.add(&g.later, 1)
	g.later = cost{}
	g.gather()
	g.ledger.Time += g.pending + g.step.total()
	g.pending = 0
	g.close()
}

// Overlap ends a step whose transfers went to a second buffer while the previous step was computed (double buffering). It takes as long as
// the longer of the two. Sync adds the work of the last such step.
func (g *CoreGroup) Overlap() {
	if !g.charged() {
		return
	}
	g.gather()
	if g.Spec().DMA.NeverOverlaps {
		g.ledger.Time += g.pending + g.step.total()
		g.pending = 0
	} else {
		g.ledger.Time += max(g.pending, g.step.transfer())
		g.pending = g.step.work()
	}
	g.close()
	g.step, g.later = g.later, cost{}
}

// gather adds the slowest CPE's own cost to the mesh's.
func (g *CoreGroup) gather() {
	pending := g.Spec().DMA.MaxPending
	g.step.settle(pending)
	slowest := g.memo.turn
	g.memo.turn = known{}
	if g.busy {
		for _, c := range g.cpes[:g.active] {
			c.cost.settle(pending)
			if t := c.cost.total(); t > slowest.total {
				slowest.cost, slowest.total = c.cost, t
			}
			c.cost = cost{}
		}
		g.busy = false
	}
	g.step.add(&slowest.cost, 1)
}

func (g *CoreGroup) close() {
	g.ledger.Compute += g.step.compute
	g.ledger.DMA += g.step.dma
	g.ledger.Bus += g.step.bus
	g.ledger.Latency += g.step.latency + g.step.busLatency
	g.step = cost{}
}

// Repeat calls work for every lo <= i < hi. All calls must cost the same and end with Sync. If only costs are modelled, one is run and
// charged for all.
func (g *CoreGroup) Repeat(lo, hi int, work func(i int) error) error {
	if g.everyWork() {
		return g.Steady(lo, hi, work)
	}
	if lo >= hi {
		return nil
	}
	g.Sync()
	before := g.ledger
	if err := work(lo); err != nil {
		return err
	}
	g.ledger.repeat(&before, hi-lo)
	return nil
}

// Steady calls work for every lo <= i < hi. Calls must cost the same, except for effects of the machine's and the LDM's state after the
// previous call. If only costs are modelled, calls are run until two in a row have cost the same; the last one's cost is then charged for all
// others.
func (g *CoreGroup) Steady(lo, hi int, work func(i int) error) error {
	if g.everyWork() {
		for i := lo; i < hi; i++ {
			if err := work(i); err != nil {
				return err
			}
		}
		return nil
	}
	var last Ledger
	for i := lo; i < hi; i++ {
		before, left := g.ledger, g.outstanding
		if err := work(i); err != nil {
			return err
		}
		one := g.ledger.Sub(before)
		if i > lo && one == last && g.outstanding == left {
			g.ledger.repeat(&before, hi-i)
			return nil
		}
		last = one
	}
	return nil
}
