package cpe

// CPE is one core of a mesh with its LDM.
type CPE struct {
	group    *CoreGroup
	Row, Col int

	ldm  []float32
	used int // floats

	dma, compute VTime // since the last Sync
}

// Block is a box of values in main memory: Planes x Rows runs of Cols values, from the start of Data on.
type Block struct {
	Data                []float32
	Planes, PlaneStride int
	Rows, RowStride     int
	Cols                int
}

// Count returns the number of values in the block.
func (b *Block) Count() int { return b.Planes * b.Rows * b.Cols }

// run is the length of the contiguous runs of the block, and their number: rows and planes that touch make one run.
func (b *Block) run() (length, number int) {
	switch {
	case b.Cols != b.RowStride && b.Rows > 1:
		return b.Cols, b.Rows * b.Planes
	case b.Rows*b.Cols != b.PlaneStride && b.Planes > 1:
		return b.Rows * b.Cols, b.Planes
	}
	return b.Planes * b.Rows * b.Cols, 1
}

// Alloc takes n values of LDM until Free. On a native machine and in cost-only mode the result is nil: tiles alias
// memory, or there are none.
func (c *CPE) Alloc(kernel string, n int) ([]float32, error) {
	g := c.group
	if g.Native() {
		return nil, nil
	}
	c.used += n
	if c.used > g.Spec().LDMFloats() {
		return nil, &LDMError{Kernel: kernel, Asked: 4 * c.used, Have: g.Spec().LDMBytes}
	}
	g.ledger.LDMPeak = max(g.ledger.LDMPeak, 4*c.used)
	if !g.Values() {
		return nil, nil
	}
	if c.ldm == nil {
		c.ldm = make([]float32, g.Spec().LDMFloats())
	}
	return c.ldm[c.used-n : c.used : c.used], nil
}

// Free gives back all LDM.
func (c *CPE) Free() { c.used = 0 }

// Load brings a block into a tile and returns where it lies and with which strides: natively in memory as it is,
// otherwise packed in tile.
func (c *CPE) Load(tile []float32, b *Block) (data []float32, planeStride, rowStride int) {
	if c.group.Native() {
		return b.Data, b.PlaneStride, b.RowStride
	}
	c.charge(b, false)
	if c.group.Values() {
		at := 0
		for p := range b.Planes {
			for r := range b.Rows {
				from := p*b.PlaneStride + r*b.RowStride
				copy(tile[at:at+b.Cols], b.Data[from:from+b.Cols])
				at += b.Cols
			}
		}
	}
	return tile, b.Rows * b.Cols, b.Cols
}

// Place returns where a block that will be stored lies until then, without loading it.
func (c *CPE) Place(tile []float32, b *Block) (data []float32, planeStride, rowStride int) {
	if c.group.Native() {
		return b.Data, b.PlaneStride, b.RowStride
	}
	return tile, b.Rows * b.Cols, b.Cols
}

// Store writes a tile back to its block.
func (c *CPE) Store(b *Block, tile []float32) {
	if c.group.Native() {
		return
	}
	c.charge(b, true)
	if !c.group.Values() {
		return
	}
	at := 0
	for p := range b.Planes {
		for r := range b.Rows {
			to := p*b.PlaneStride + r*b.RowStride
			copy(b.Data[to:to+b.Cols], tile[at:at+b.Cols])
			at += b.Cols
		}
	}
}

// charge adds the time of one DMA request: latency, and its runs, each padded to whole transactions at both ends, at
// this CPE's part of the group's bandwidth for runs of that length (Zheng 2019, eq. 3-2).
func (c *CPE) charge(b *Block, put bool) {
	g := c.group
	length, number := b.run()
	bytes := 4 * length * number
	if bytes == 0 {
		return
	}
	d := &g.Spec().DMA
	perCPE := d.Bandwidth(g.active, 4*length, put) / float64(g.active)
	c.dma += fromNs(d.LatencyNs + float64(bytes)/perCPE)
	g.ledger.DMARequests++
	if put {
		g.ledger.PutBytes += int64(bytes)
	} else {
		g.ledger.GetBytes += int64(bytes)
	}
}

// Compute charges operations: flops at the CPE's peak rate, specials at their cycles each.
func (c *CPE) Compute(flops, specials float64) {
	g := c.group
	if g.Native() {
		return
	}
	s := g.Spec()
	c.compute += s.cycles(flops/s.FlopsPerCycle + specials*s.SpecialCycles)
	g.ledger.Flops += flops + specials
}

// Native and Values are those of the CPE's group.
func (c *CPE) Native() bool { return c.group.Native() }

// Values reports whether values are read and written.
func (c *CPE) Values() bool { return c.group.Values() }
