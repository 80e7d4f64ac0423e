package cpe

// memo remembers the costs of pieces of a CPE's work, by a kernel's key, during one program.
type memo struct {
	near   [64]known // costs for small keys
	held   uint64    // bit k: near[k] is known
	far    map[int]*known
	ledger Ledger // the ledger before the current work
	cost   cost
	turn   known // the largest cost charged since the last Sync or Overlap
}

// known is the cost that one piece of work, alone in a step, adds to its CPE and to the ledger.
type known struct {
	cost   cost
	total  VTime // total time of the cost
	ledger Ledger
}

// forget empties the memo.
func (m *memo) forget() {
	m.held = 0
	clear(m.far)
}

// find returns the remembered cost of a key, or nil.
func (m *memo) find(key int) *known {
	if key < len(m.near) {
		if m.held>>key&1 == 0 {
			return nil
		}
		return &m.near[key]
	}
	return m.far[key]
}

// Charged charges a CPE's work that has been done with the same key, and so the same cost, before in this program. It returns true if nothing
// else remains to be done. If it returns false, the caller must do the work and then call Remember; if values count, all work is done, but
// charged only once. A CPE does one piece of work between two calls of Sync or Overlap.
func (g *CoreGroup) Charged(c *CPE, key int) bool {
	if g.machine.tracing {
		return false
	}
	if g.chargeKnown(key, 1) {
		c.charged = g.Values()
		return !c.charged
	}
	g.memo.ledger, g.memo.cost = g.ledger, c.cost
	return false
}

// ChargedAlike charges n pieces of work of the same key at once, each of another CPE. It returns false, and charges nothing, if values count or
// the key's cost is not known yet: the caller must then do the work.
func (g *CoreGroup) ChargedAlike(key, n int) bool { return !g.everyWork() && g.chargeKnown(key, n) }

// chargeKnown charges n pieces of work of a key, each of another CPE. It returns false if the key's cost is not known.
func (g *CoreGroup) chargeKnown(key, n int) bool {
	k := g.memo.find(key)
	if k == nil {
		return false
	}
	if k.total > g.memo.turn.total {
		g.memo.turn = *k
	}
	g.ledger.addTotals(&k.ledger, n)
	return true
}

// Remember records the cost of the work since Charged.
func (g *CoreGroup) Remember(c *CPE, key int) {
	if g.machine.tracing || c.charged {
		c.charged = false
		return
	}
	k := known{cost: c.cost, ledger: g.ledger.Sub(g.memo.ledger)}
	k.cost.add(&g.memo.cost, -1)
	k.cost.settle(g.Spec().DMA.MaxPending)
	k.total = k.cost.total()
	if key < len(g.memo.near) {
		g.memo.near[key] = k
		g.memo.held |= 1 << key
		return
	}
	if g.memo.far == nil {
		g.memo.far = map[int]*known{}
	}
	far := k // k itself stays off the heap
	g.memo.far[key] = &far
}

// section identifies a piece of a program by a kernel's key and by what is outstanding when it begins.
type section struct {
	key int
	outstanding
}

// sectionCost is the cost of such a piece, and what is outstanding when it ends.
type sectionCost struct {
	ledger Ledger
	outstanding
}

// Section runs work. If only costs are modelled, and work of this key has run before in this program with the same transfers outstanding, its
// cost is charged again instead.
func (g *CoreGroup) Section(key int, work func() error) error {
	if g.everyWork() {
		return work()
	}
	at := section{key, g.outstanding}
	if c, ok := g.sections[at]; ok {
		g.ledger.addTimes(&c.ledger, 1)
		g.ledger.addTotals(&c.ledger, 1)
		g.outstanding = c.outstanding
		return nil
	}
	before := g.ledger
	if err := work(); err != nil {
		return err
	}
	if g.sections == nil {
		g.sections = map[section]sectionCost{}
	}
	g.sections[at] = sectionCost{g.ledger.Sub(before), g.outstanding}
	return nil
}
