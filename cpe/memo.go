package cpe

// memo remembers what works of a CPE cost, by a kernel's key, while a program runs.
type memo struct {
	near   [64]known // by the lower keys
	far    map[int]known
	ledger Ledger // before the work that is being done
	cost   cost
	turn   known // the dearest of those that were charged since the last Sync or Overlap
}

// known is what one work adds to its CPE, alone in a step, and to the ledger.
type known struct {
	valid  bool
	cost   cost
	total  VTime // of the cost
	ledger Ledger
}

// forget empties the memo.
func (m *memo) forget() {
	clear(m.near[:])
	clear(m.far)
}

// find returns what is known of a key; nil: nothing.
func (m *memo) find(key int) *known {
	if key < len(m.near) {
		if k := &m.near[key]; k.valid {
			return k
		}
		return nil
	}
	if k, ok := m.far[key]; ok {
		return &k
	}
	return nil
}

// Charged charges a work of a CPE that has cost the same before in this program, and reports whether that is all that there is to
// do. If not, the work must be done now and Remember be called after it: where values count works are done all the same, but are
// not charged again. The works of one key must cost the same, and a CPE does one between two calls of Sync or Overlap.
func (g *CoreGroup) Charged(c *CPE, key int) bool {
	if g.machine.tracing {
		return false
	}
	if k := g.memo.find(key); k != nil {
		if k.total > g.memo.turn.total {
			g.memo.turn = *k
		}
		g.ledger.addTotals(&k.ledger)
		c.charged = g.Values()
		return !c.charged
	}
	g.memo.ledger, g.memo.cost = g.ledger, c.cost
	return false
}

// Remember notes what the work since Charged has cost.
func (g *CoreGroup) Remember(c *CPE, key int) {
	if g.machine.tracing || c.charged {
		c.charged = false
		return
	}
	k := known{valid: true, cost: c.cost.sub(&g.memo.cost), ledger: g.ledger.Sub(g.memo.ledger)}
	k.cost.settle(g.Spec().DMA.MaxPending)
	k.total = k.cost.total()
	if key < len(g.memo.near) {
		g.memo.near[key] = k
		return
	}
	if g.memo.far == nil {
		g.memo.far = map[int]known{}
	}
	g.memo.far[key] = k
}

// Section does work that begins and ends with all transfers done, unless only costs count and work of its key has been done
// in this program: then its cost is charged again.
func (g *CoreGroup) Section(key int, work func() error) error {
	if g.everyWork() {
		return work()
	}
	if l, ok := g.sections[key]; ok {
		g.ledger.addTimes(&l)
		g.ledger.addTotals(&l)
		return nil
	}
	g.Sync()
	before := g.ledger
	if err := work(); err != nil {
		return err
	}
	g.Sync()
	if g.sections == nil {
		g.sections = map[int]Ledger{}
	}
	g.sections[key] = g.ledger.Sub(before)
	return nil
}
