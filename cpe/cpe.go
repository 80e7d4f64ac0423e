package cpe

import (
	"fmt"

	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// CPE is one core of a mesh with its LDM.
type CPE struct {
	group    *CoreGroup
	Row, Col int

	used    int       // values of LDM taken
	store   []float32 // buffer of these values
	stored  int
	fromRow fifo
	fromCol fifo
	cost    cost  // cost since the last Sync or Overlap
	charged bool  // the current work is charged already; see CoreGroup.Charged
	usage   Usage // use of the CPE while the machine is traced
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

// Extent returns the number of values from the block's first to its last, including those between its runs.
func (b *Block) Extent() int {
	if b.Count() == 0 {
		return 0
	}
	return (b.Planes-1)*b.PlaneStride + (b.Rows-1)*b.RowStride + b.Cols
}

// run returns the length and the number of the block's contiguous runs; adjacent rows and planes make one run.
func (b *Block) run() (length, number int) {
	switch {
	case b.Cols != b.RowStride && b.Rows > 1:
		return b.Cols, b.Rows * b.Planes
	case b.Rows*b.Cols != b.PlaneStride && b.Planes > 1:
		return b.Rows * b.Cols, b.Planes
	}
	return b.Planes * b.Rows * b.Cols, 1
}

// Alloc allocates n values of LDM until Free. It returns nil on a machine without DMA, where tiles alias memory, and in cost-only mode,
// where there are no values.
func (c *CPE) Alloc(kernel string, n int) ([]float32, error) {
	if !c.group.HasDMA() {
		return nil, nil
	}
	if err := c.Hold(kernel, n); err != nil {
		return nil, err
	}
	return c.carve(n), nil
}

// Hold counts n values of LDM as used until Free, such as the second buffers of double buffering. Without DMA there is no LDM to count.
func (c *CPE) Hold(kernel string, n int) error {
	g := c.group
	if !g.HasDMA() {
		return nil
	}
	c.used += n
	if c.used > g.Spec().LDMFloats() {
		return fmt.Errorf("CPE (%d,%d): %w", c.Row, c.Col, &LDMError{Kernel: kernel, Asked: g.Spec().Bytes(c.used), Have: g.Spec().LDMBytes})
	}
	g.ledger.LDMPeak = max(g.ledger.LDMPeak, g.Spec().Bytes(c.used))
	c.usage.LDMPeak = max(c.usage.LDMPeak, g.Spec().Bytes(c.used))
	return nil
}

// Left returns how many values of LDM are not taken.
func (c *CPE) Left() int { return c.group.Spec().LDMFloats() - c.used }

// carve returns the next n values of the CPE's storage, nil if no values are kept.
func (c *CPE) carve(n int) []float32 {
	if !c.group.Values() {
		return nil
	}
	c.stored += n
	if c.stored > len(c.store) {
		panic("cpe: a kernel takes more storage than it reserved")
	}
	return c.store[c.stored-n : c.stored : c.stored]
}

// Free releases all LDM.
func (c *CPE) Free() { c.used, c.stored = 0, 0 }

// Load brings a block to LDM and returns its data and strides: a packed copy in tile or, without DMA, the block in memory.
func (c *CPE) Load(tile []float32, b *Block) (data []float32, planeStride, rowStride int) {
	if !c.group.HasDMA() {
		return b.Data, b.PlaneStride, b.RowStride
	}
	c.charge(b, false)
	if c.group.Values() {
		n := b.Rows * b.Cols
		for p := range b.Planes {
			copyRows(tile[p*n:(p+1)*n], b.Cols, b.Data[p*b.PlaneStride:], b.RowStride, b.Rows, b.Cols)
		}
	}
	return tile, b.Rows * b.Cols, b.Cols
}

// Place returns the data and strides for a block that will be computed and stored, without loading it.
func (c *CPE) Place(tile []float32, b *Block) (data []float32, planeStride, rowStride int) {
	if !c.group.HasDMA() {
		return b.Data, b.PlaneStride, b.RowStride
	}
	return tile, b.Rows * b.Cols, b.Cols
}

// Store writes a tile back to its block.
func (c *CPE) Store(b *Block, tile []float32) {
	if !c.group.HasDMA() {
		return
	}
	c.charge(b, true)
	if !c.group.Values() {
		return
	}
	n := b.Rows * b.Cols
	for p := range b.Planes {
		copyRows(b.Data[p*b.PlaneStride:], b.RowStride, tile[p*n:(p+1)*n], b.Cols, b.Rows, b.Cols)
	}
}

// Sweep charges the transfer of a block of one plane that LDM does not hold. It passes through LDM in pieces of at most so many values, whole
// rows if one fits. Its values are used in memory.
func (c *CPE) Sweep(b *Block, most int, put bool) {
	if c.charged {
		return
	}
	rows, cols := max(1, most/max(1, b.Cols)), min(b.Cols, most)
	for r := 0; r < b.Rows; r += rows {
		for at := 0; at < b.Cols; at += cols {
			c.charge(&Block{Planes: 1, Rows: min(rows, b.Rows-r), RowStride: b.RowStride, Cols: min(cols, b.Cols-at)}, put)
		}
	}
}

// shortRows is the row length up to which rows are faster copied together than one by one.
const shortRows = 256

// copyRows copies rows of n values, which are ldd apart in dst and lds in src.
func copyRows(dst []float32, ldd int, src []float32, lds, rows, n int) {
	if rows > 1 && n < shortRows {
		vec.CopyRows(dst, ldd, src, lds, rows, n)
		return
	}
	for r := range rows {
		copy(dst[r*ldd:][:n], src[r*lds:][:n])
	}
}

// charge adds the time of one DMA request.
func (c *CPE) charge(b *Block, put bool) {
	if c.charged {
		return
	}
	length, number := b.run()
	if length*number == 0 {
		return
	}
	g := c.group
	requests := 1
	if number > b.Planes && b.Rows > 1 && b.Planes > 1 && b.PlaneStride != b.Rows*b.RowStride {
		requests, number = b.Planes, b.Rows // a request has one stride
	}
	bytes := g.Spec().Bytes(length)
	stream, wait := g.transfer(g.active, bytes, float64(number), put)
	g.busy = true
	for range requests {
		c.cost.request(stream, wait)
	}
	g.count(bytes*number*requests, requests, put)
	c.usage.moved(bytes*number*requests, put)
}

// Wait waits for the CPE's transfers before dependent work.
func (c *CPE) Wait() {
	if !c.charged {
		c.cost.settle(c.group.machine.spec.DMA.MaxPending)
	}
}

// Compute charges operations: flops at the CPE's peak rate, and special functions at their cycles each.
func (c *CPE) Compute(flops, specials float64) {
	g := c.group
	if c.charged || !g.charged() {
		return
	}
	s := g.Spec()
	g.busy = true
	c.cost.compute += s.cycles(flops/s.FlopsPerCycle + specials*s.SpecialCycles)
	g.ledger.Flops += flops + specials
}

// Scalar charges work that goes value by value, with one operation that waits for its load, if the machine's software works so. Otherwise it
// charges what Compute does.
func (c *CPE) Scalar(values float64) {
	g := c.group
	each := g.machine.spec.Software.ScalarCycles
	if each == 0 || c.charged || !g.charged() {
		c.Compute(values, 0)
		return
	}
	g.busy = true
	c.cost.compute += g.Spec().cycles(values * each)
	g.ledger.Flops += values
}

// Values reports whether values are read and written; if not, only costs are modelled.
func (c *CPE) Values() bool { return c.group.Values() }
