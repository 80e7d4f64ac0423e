package cpe

// CoreGroup is a mesh of CPEs that work together: on the host, one core.
type CoreGroup struct {
	machine *Machine
	index   int
	of      int // groups that share the running program
	cpes    []*CPE
	bus     bus

	time   VTime // of the running program so far
	ledger Ledger
	// active is the number of CPEs that use the DMA engine at once.
	active int
}

func newCoreGroup(m *Machine, index int) *CoreGroup {
	g := &CoreGroup{machine: m, index: index}
	for i := range m.spec.CPEs() {
		g.cpes = append(g.cpes, &CPE{group: g, Row: i / m.spec.Cols, Col: i % m.spec.Cols})
	}
	g.bus.init(m.spec)
	return g
}

func (g *CoreGroup) reset() {
	g.time, g.ledger, g.active = 0, Ledger{}, len(g.cpes)
	for _, c := range g.cpes {
		c.Free()
		c.dma, c.compute = 0, 0
	}
}

// Index is the group's number on its machine.
func (g *CoreGroup) Index() int { return g.index }

// Spec returns the machine's description.
func (g *CoreGroup) Spec() *Spec { return &g.machine.spec }

// Native reports whether loads alias memory: kernels then use whole arrays where a modelled machine uses tiles.
func (g *CoreGroup) Native() bool { return g.machine.mode == Native }

// Values reports whether values are read and written.
func (g *CoreGroup) Values() bool { return g.machine.mode != CostOnly }

// CPEs returns the group's cores, row by row.
func (g *CoreGroup) CPEs() []*CPE { return g.cpes }

// Share returns this group's part lo <= i < hi of n units of work.
func (g *CoreGroup) Share(n int) (lo, hi int) {
	return g.index * n / g.of, (g.index + 1) * n / g.of
}

// Deal sets how many CPEs will work on n units of work of this group, which the DMA engine's bandwidth depends on,
// and returns that number.
func (g *CoreGroup) Deal(n int) int {
	g.active = max(1, min(n, len(g.cpes)))
	return g.active
}

// Sync ends a step of the program: every CPE has done its transfers and its computing, and waits for the slowest. With
// overlap, transfers were double buffered and hide behind computing, or the other way round.
func (g *CoreGroup) Sync(overlap bool) {
	if g.Native() {
		return
	}
	var slowest VTime
	for _, c := range g.cpes {
		t := c.dma + c.compute
		if overlap {
			t = max(c.dma, c.compute)
		}
		slowest = max(slowest, t)
		g.ledger.DMA += c.dma
		g.ledger.Compute += c.compute
		c.dma, c.compute = 0, 0
	}
	g.time += slowest
}
