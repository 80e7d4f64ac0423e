package pool

import (
	"unsafe"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// poolTile is a tile of a plane: the inputs, the outputs, and the outputs' mask.
type poolTile struct {
	plane         int
	in, out, mask part
	indices       []int32 // the mask's values
	pieces        pieces  // of a tile that ByPieces computes
}

// part is a tile's part of an array: its rows and columns in the plane, its place in memory, and its values, whose rows start stride values
// apart.
type part struct {
	rows, cols tiling.Span
	block      cpe.Block
	values     []float32
	stride     int
}

func (p *part) load(c *cpe.CPE)  { p.values, _, p.stride = c.Load(p.values, &p.block) }
func (p *part) place(c *cpe.CPE) { p.values, _, p.stride = c.Place(p.values, &p.block) }
func (p *part) store(c *cpe.CPE) { c.Store(&p.block, p.values) }

// begin sets the place of tile n, in the order of the planes, and its inputs' and outputs' rows and columns.
func (p *Kernel) begin(t *poolTile, n int) {
	s, tiles := &p.shape, p.tiles()
	t.plane = n / tiles.count()
	rows, cols := tiles.nth(n % tiles.count())
	if p.backward {
		t.in.rows, t.in.cols = rows, cols
		t.out.rows, t.out.cols = tiling.Outputs(rows, s.SH, s.PH, s.KH, s.OH), tiling.Outputs(cols, s.SW, s.PW, s.KW, s.OW)
		return
	}
	t.in.rows, t.in.cols = tiling.Inputs(rows, s.SH, s.PH, s.KH, s.H), tiling.Inputs(cols, s.SW, s.PW, s.KW, s.W)
	t.out.rows, t.out.cols = rows, cols
}

// runTile computes one tile.
func (p *Kernel) runTile(c *cpe.CPE, t *poolTile) error {
	s, from, to := &p.shape, &t.in, &t.out
	if p.backward {
		from, to = to, from
	}
	values, err := p.open(c, t)
	if err != nil {
		return err
	}
	if err := c.Hold("pooling", values); err != nil { // for double buffering
		return err
	}
	if outputs := float64(t.out.rows.N * t.out.cols.N); p.backward && s.Masked() {
		c.Scalar(outputs)
	} else {
		c.Scalar(outputs * float64(s.KH*s.KW))
	}
	p.fetch(c, t, from, to)
	if c.Values() {
		t.indices = Indices(t.mask.values)
		p.compute(t)
	}
	p.store(c, t, to)
	return nil
}

// fetch loads what a tile, or a piece of one, is computed of, and opens its results.
func (p *Kernel) fetch(c *cpe.CPE, t *poolTile, from, to *part) {
	from.load(c)
	to.place(c)
	switch {
	case !p.shape.Masked():
	case p.backward:
		t.mask.load(c)
	default:
		t.mask.place(c)
	}
}

// store stores a tile's results.
func (p *Kernel) store(c *cpe.CPE, t *poolTile, to *part) {
	to.store(c)
	if p.shape.Masked() && !p.backward {
		t.mask.store(c)
	}
}

// compute pools the tile, or computes the gradient of its inputs.
func (p *Kernel) compute(t *poolTile) {
	if p.backward {
		t.clear()
		p.spread(t)
	} else {
		p.gather(t)
	}
}

// open finds a tile's blocks and takes LDM for them. It returns the number of their values.
func (p *Kernel) open(c *cpe.CPE, t *poolTile) (values int, err error) {
	s := &p.shape
	t.in.block = rectangle(p.x, t.plane, s.H, s.W, t.in.rows, t.in.cols)
	t.out.block = rectangle(p.y, t.plane, s.OH, s.OW, t.out.rows, t.out.cols)
	if s.Masked() {
		t.mask.block = rectangle(asFloats(p.mask), t.plane, s.OH, s.OW, t.out.rows, t.out.cols)
	}
	c.Free()
	parts := [...]*part{&t.out, &t.mask, &t.in} // results first, so that they stay in their place while pieces change their size
	if p.backward {
		parts = [...]*part{&t.in, &t.out, &t.mask}
	}
	for _, a := range parts {
		n := a.block.Count()
		if a.values, err = c.Alloc("pooling", n); err != nil {
			return 0, err
		}
		values += n
	}
	return values, nil
}

// rectangle returns a part of a plane of h x w values.
func rectangle(data []float32, plane, h, w int, rows, cols tiling.Span) cpe.Block {
	b := cpe.Block{Planes: 1, PlaneStride: rows.N * w, Rows: rows.N, RowStride: w, Cols: cols.N}
	if data != nil && b.Count() > 0 {
		b.Data = data[plane*h*w+rows.At*w+cols.At:]
	}
	return b
}

// asFloats returns a mask as floats, for DMA.
func asFloats(mask []int32) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(mask))), len(mask))
}

// Indices returns the indices in a mask whose words are stored as floats.
func Indices(words []float32) []int32 {
	return unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(words))), len(words))
}
