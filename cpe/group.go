package cpe

import "time"

// CoreGroup is a mesh of CPEs that work together: on the host, one core.
type CoreGroup struct {
	machine *Machine
	index   int
	of      int // groups that share the running program
	cpes    []*CPE
	memory  []float32 // the scratch that it has to itself
	tiles   []float32 // where the values of tiles stand, those of all CPEs
	taken   int       // of them

	// Natively, of the running program: how many units were shared, how many of them the group got, and how long it took.
	shared, got int
	spent       time.Duration

	ledger   Ledger // of the running program
	active   int    // CPEs that use the DMA engine at once
	step     cost   // of the mesh since the last Sync or Overlap
	busy     bool   // CPEs have costs of their own since then
	pending  VTime  // work of the last overlapped step, behind which the next transfers hide
	rates    rateCache
	memo     memo
	sections map[int]Ledger // what sections have cost in the running program
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
	g.ledger, g.active, g.step, g.pending = Ledger{}, len(g.cpes), cost{}, 0
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

// Native reports whether tiles alias memory: kernels then use whole arrays where a modelled machine uses tiles.
func (g *CoreGroup) Native() bool { return g.machine.Native() }

// Values reports whether values are read and written.
func (g *CoreGroup) Values() bool { return g.machine.Values() }

// CPEs returns the group's cores, row by row.
func (g *CoreGroup) CPEs() []*CPE { return g.cpes }

func (g *CoreGroup) at(row, col int) *CPE { return g.cpes[row*g.machine.spec.Cols+col] }

// Share returns this group's part lo <= i < hi of n units of work, the same whenever the running program asks. The part may be empty
// at any place: lo = hi may be 0, n or between. What a unit gives must not depend on who does it: natively parts are not even (shares).
func (g *CoreGroup) Share(n int) (lo, hi int) {
	m := g.machine
	if m.mode != Native || g.of < len(m.groups) {
		return g.index * n / g.of, (g.index + 1) * n / g.of
	}
	lo, hi = m.shares.part(g.index, n)
	g.shared, g.got = g.shared+n, g.got+hi-lo
	return lo, hi
}

// Claim is for native programs whose core groups do not share units of work beforehand but take some as they get ready, so that one that
// others slow down does fewer, and those that work at the same time read and write what lies close together. It gives units lo <= i < hi
// of n, most of them at once, and fewer towards the end; lo = hi if none are left. What a unit gives must not depend on who does it.
func (g *CoreGroup) Claim(n, most int) (lo, hi int) {
	claimed := &g.machine.claimed
	for {
		first := claimed.Load()
		left := n - int(first)
		some := min(left, most, max(1, left/(2*g.of)))
		if some == 0 || claimed.CompareAndSwap(first, first+int32(some)) {
			return int(first), int(first) + some
		}
	}
}

// run does a program natively and notes how long that takes.
func (g *CoreGroup) run(p Program) error {
	g.shared, g.got = 0, 0
	start := time.Now()
	err := p.RunGroup(g)
	g.spent = time.Since(start)
	return err
}

// Memory returns n values of the scratch that the group has to itself.
func (g *CoreGroup) Memory(n int) []float32 {
	if !g.Values() {
		return nil
	}
	return g.memory[:n]
}

// Common returns n values of the scratch that all groups of the machine see.
func (g *CoreGroup) Common(n int) []float32 { return g.machine.Common(n) }

// Deal sets how many CPEs will work on n units of work of this group, which the DMA engine's bandwidth depends on,
// and returns that number.
func (g *CoreGroup) Deal(n int) int {
	g.memo.forget() // what depends on that number
	g.active = max(1, min(n, len(g.cpes)))
	return g.active
}

// Multiply charges a product of m x k by k x n values that lie in every CPE's LDM or come over the buses, one run of steps
// of K; first says that a block of C is loaded and stored besides, direct that operands are of single precision. total is the
// operations of the whole mesh.
func (g *CoreGroup) Multiply(m, n, k int, first, direct bool, total float64) {
	if g.Native() {
		return
	}
	s := g.Spec()
	g.ledger.Flops += total
	g.step.compute += fromNs(s.multiplyNs(m, n, k, first, direct || s.Pipe.Single == SingleDirect))
}

// Sync ends a step of the program: every CPE has done its transfers and its work one after the other, and waits for
// the slowest.
func (g *CoreGroup) Sync() {
	if g.Native() {
		return
	}
	g.gather()
	g.ledger.Time += g.pending + g.step.total()
	g.pending = 0
	g.close()
}

// Overlap ends a step whose transfers went to a second buffer while the step before was worked on (double buffering): it
// takes as long as the longer of the two. The work of the last such step is added by Sync.
func (g *CoreGroup) Overlap() {
	if g.Native() {
		return
	}
	g.gather()
	if g.Spec().DMA.NeverOverlaps {
		g.ledger.Time += g.pending + g.step.total()
		g.pending = 0
		g.close()
		return
	}
	g.ledger.Time += max(g.pending, g.step.transfer())
	g.pending = g.step.work()
	g.close()
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
	g.step.add(&slowest.cost)
}

func (g *CoreGroup) close() {
	g.ledger.Compute += g.step.compute
	g.ledger.DMA += g.step.dma
	g.ledger.Bus += g.step.bus
	g.ledger.Latency += g.step.latency + g.step.busLatency
	g.step = cost{}
}

// Repeat does work for every lo <= i < hi. The works must cost the same and end with Sync: where only costs count, one is done
// and charged for all.
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

// Steady does work for every lo <= i < hi. The works must cost the same, but for what the machine or the first of them finds
// or leaves in LDM: where only costs count, works are done until two in a row have cost the same, and what the last did
// is charged for all that remain.
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
		before, pending := g.ledger, g.pending
		if err := work(i); err != nil {
			return err
		}
		one := g.ledger.Sub(before)
		if i > lo && one == last && g.pending == pending {
			g.ledger.repeat(&before, hi-i)
			return nil
		}
		last = one
	}
	return nil
}
