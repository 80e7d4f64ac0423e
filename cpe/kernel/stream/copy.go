package stream

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// CopyShape describes a copy of rows: for o < Outer and r < Rows, the Cols values at src[o*SrcOuter + r*SrcRow] go to dst[o*DstOuter +
// r*DstRow], or are added to it.
type CopyShape struct {
	Outer, Rows, Cols int
	SrcOuter, SrcRow  int
	DstOuter, DstRow  int
	Add               bool
}

// shortRow is the length of rows up to which one vector kernel copies many of them faster than a call for each.
const shortRow = 512

// Copy executes a CopyShape. On a modelled machine plain copies pass through LDM too, as in swCaffe (its principle 2).
type Copy struct {
	shape    CopyShape
	machine  *cpe.Machine
	cols     int // values of a tile
	tiles    int // tiles of a row
	dst, src []float32
	above    []float32 // ReLU mask in the order of dst, or nil: write 0 where it is not above 0
}

// NewCopy plans a copy. Consecutive rows are joined, and long ones are cut so that they fit LDM.
func NewCopy(m *cpe.Machine, s CopyShape) (*Copy, error) {
	if s.Outer > 1 && s.Rows == 1 {
		s.Rows, s.SrcRow, s.DstRow, s.Outer = s.Outer, s.SrcOuter, s.DstOuter, 1
	}
	if s.SrcRow == s.Cols && s.DstRow == s.Cols {
		s.Cols, s.Rows = s.Cols*s.Rows, 1
		if s.Outer > 1 && s.SrcOuter == s.Cols && s.DstOuter == s.Cols {
			s.Cols, s.Outer = s.Cols*s.Outer, 1
		}
	}
	spec := m.Spec()
	limit := 4 * tiling.HostTile
	if spec.HasDMA() {
		rows := Pass{Dims: [3]int{s.Outer, s.Rows, s.Cols}, Ins: []Array{Full, Full}}
		limit = rows.evenRun(&spec, spec.LDMFloats()/4) // source and destination, two buffers each
	}
	c := &Copy{shape: s, machine: m, cols: min(s.Cols, limit)}
	if c.cols > 0 {
		c.tiles = (s.Cols + c.cols - 1) / c.cols
	}
	return c, nil
}

// Name returns "copy".
func (c *Copy) Name() string { return "copy" }

// Run copies.
func (c *Copy) Run(dst, src []float32) error { return c.RunWhere(dst, src, nil) }

// RunWhere copies, but writes 0 where above is not above 0: the gradient of a ReLU. above has the order of dst; nil masks nothing. It is for
// machines without DMA, and for shapes that do not add.
func (c *Copy) RunWhere(dst, src, above []float32) error {
	s := &c.shape
	if s.Outer*s.Rows*c.tiles == 0 {
		return nil
	}
	c.dst, c.src, c.above = dst, src, above
	return c.machine.Run(c, c.machine.GroupsFor(s.Outer*s.Rows*s.Cols, 4*tiling.HostTile))
}

// RunGroup copies a core group's share of the tiles.
func (c *Copy) RunGroup(g *cpe.CoreGroup) error {
	s := &c.shape
	lo, hi := g.Share(s.Outer * s.Rows * c.tiles)
	if !g.HasDMA() {
		c.moveRows(lo, hi)
		return nil
	}
	cpes := g.CPEs()[:g.Deal(hi-lo)]
	for n := lo; n < hi; n++ {
		tile, r, o := n%c.tiles, n/c.tiles%s.Rows, n/c.tiles/s.Rows
		at := tile * c.cols
		cols := min(c.cols, s.Cols-at)
		src, dst := Line(c.src, o*s.SrcOuter+r*s.SrcRow+at, cols), Line(c.dst, o*s.DstOuter+r*s.DstRow+at, cols)
		if err := c.move(cpes[(n-lo)%len(cpes)], &dst, &src); err != nil {
			return err
		}
		if (n-lo+1)%len(cpes) == 0 {
			g.Overlap()
		}
	}
	g.Sync()
	return nil
}

// moveRows copies tiles lo <= n < hi in main memory. Rows of one tile each are copied together.
func (c *Copy) moveRows(lo, hi int) {
	s := &c.shape
	for n, rows := lo, 0; n < hi; n += rows {
		tile, r, o := n%c.tiles, n/c.tiles%s.Rows, n/c.tiles/s.Rows
		if rows = 1; c.tiles == 1 {
			rows = min(hi-n, s.Rows-r)
		}
		at := tile * c.cols
		to := o*s.DstOuter + r*s.DstRow + at
		c.moveAlike(to, c.src[o*s.SrcOuter+r*s.SrcRow+at:], rows, min(c.cols, s.Cols-at))
	}
}

// moveAlike copies rows of cols values in main memory, those of dst from index to on.
func (c *Copy) moveAlike(to int, src []float32, rows, cols int) {
	s, dst := &c.shape, c.dst[to:]
	if cols <= shortRow && !s.Add && c.above == nil {
		vec.CopyRows(dst, s.DstRow, src, s.SrcRow, rows, cols)
		return
	}
	for r := range rows {
		dst, src := dst[r*s.DstRow:][:cols], src[r*s.SrcRow:][:cols]
		switch {
		case c.above != nil:
			vec.ReLUGrad(dst, src, c.above[to+r*s.DstRow:], 0)
		case s.Add:
			vec.Add(dst, dst, src)
		default:
			copy(dst, src)
		}
	}
}

// Line returns n values from at on as a block of one run.
func Line(data []float32, at, n int) cpe.Block {
	if data != nil {
		data = data[at : at+n]
	}
	return cpe.Block{Data: data, Planes: 1, PlaneStride: n, Rows: 1, RowStride: n, Cols: n}
}

func (c *Copy) move(p *cpe.CPE, dst, src *cpe.Block) error {
	p.Free()
	n := src.Cols
	if err := p.Hold("copy", 2*n); err != nil { // the second buffers
		return err
	}
	buffer, err := p.Alloc("copy", n)
	if err != nil {
		return err
	}
	from, _, _ := p.Load(buffer, src)
	if !c.shape.Add {
		p.Store(dst, from)
		return nil
	}
	if buffer, err = p.Alloc("copy", n); err != nil {
		return err
	}
	to, _, _ := p.Load(buffer, dst)
	if p.Values() {
		vec.Add(to[:n], to[:n], from[:n])
	}
	p.Compute(float64(n), 0)
	p.Store(dst, to)
	return nil
}
