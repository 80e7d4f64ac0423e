package cpe

import "fmt"

// DMAProbe is the DMA micro-benchmark of swCaffe's figure 2: each of some CPEs makes one request and waits for it.
type DMAProbe struct {
	CPEs  int // CPEs in each core group
	Bytes int // bytes of a request, a multiple of 4
	Block int // length of contiguous blocks, and of the gaps between them; if equal to Bytes, the request is contiguous
	Put   bool
}

// Run returns the total bandwidth in GB/s of the first groups core groups (0: all) of a CostOnly machine, whose threads have started before.
func (p DMAProbe) Run(m *Machine, groups int) (float64, error) {
	spec := &m.spec
	switch {
	case m.mode != CostOnly:
		return 0, fmt.Errorf("machine %q: the DMA probe needs a machine in cost-only mode", spec.Name)
	case p.CPEs < 1 || p.CPEs > spec.CPEs():
		return 0, fmt.Errorf("machine %q has %d CPEs a core group; %d were asked for", spec.Name, spec.CPEs(), p.CPEs)
	case groups < 0 || groups > len(m.groups):
		return 0, fmt.Errorf("machine %q has %s; %d were asked for", spec.Name, Groups(len(m.groups)), groups)
	case p.Block < 4 || p.Block%4 != 0 || p.Bytes%p.Block != 0 || p.Bytes < 4:
		return 0, fmt.Errorf("%d bytes in blocks of %d: both must be multiples of 4, and the first a multiple of the second", p.Bytes, p.Block)
	}
	if groups == 0 {
		groups = len(m.groups)
	}
	cols, rows := p.Block/4, p.Bytes/p.Block
	b := Block{Planes: 1, Rows: rows, Cols: cols, RowStride: 2 * cols, PlaneStride: 2 * cols * rows}
	if rows == 1 {
		b.RowStride = cols
	}
	before := m.ledger
	m.ResetLedger()
	err := m.Run(dmaProgram{&p, b}, groups)
	seconds := (m.ledger.Time - spec.StartTime()).Seconds()
	m.ledger = before
	return float64(groups*p.CPEs*p.Bytes) / seconds / 1e9, err
}

// dmaProgram is the probe's program.
type dmaProgram struct {
	*DMAProbe
	block Block
}

// Name names the program.
func (dmaProgram) Name() string { return "DMA probe" }

// RunGroup makes the requests.
func (p dmaProgram) RunGroup(g *CoreGroup) error {
	for _, c := range g.CPEs()[:g.Deal(p.CPEs)] {
		c.Free()
		tile, err := c.Alloc("DMA probe", p.Bytes/4)
		if err != nil {
			return err
		}
		if p.Put {
			c.Store(&p.block, tile)
		} else {
			c.Load(tile, &p.block)
		}
	}
	g.Sync()
	return nil
}
