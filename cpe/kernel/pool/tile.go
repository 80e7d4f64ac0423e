package pool

import (
	"unsafe"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// poolTile is a tile of a plane: its inputs and outputs, where they lie, and the outputs' mask.
type poolTile struct {
	plane               int
	inRows, inCols      tiling.Span
	outRows, outCols    tiling.Span
	in, out, word       []float32
	inStride, outStride int
	inB, outB, maskB    cpe.Block
	mask                []int32
}

// runTile works on one tile: rows and cols are those of outputs forward, of inputs backward.
func (p *Kernel) runTile(c *cpe.CPE, t *poolTile, rows, cols tiling.Span) error {
	s := &p.shape
	if p.backward {
		t.inRows, t.inCols = rows, cols
		t.outRows, t.outCols = tiling.Outputs(rows, s.SH, s.PH, s.KH, s.OH), tiling.Outputs(cols, s.SW, s.PW, s.KW, s.OW)
	} else {
		t.outRows, t.outCols = rows, cols
		t.inRows, t.inCols = tiling.Inputs(rows, s.SH, s.PH, s.KH, s.H), tiling.Inputs(cols, s.SW, s.PW, s.KW, s.W)
	}
	if err := p.open(c, t); err != nil {
		return err
	}
	outputs := float64(t.outRows.N * t.outCols.N)
	if p.backward && s.Masked() {
		c.Scalar(outputs)
	} else {
		c.Scalar(outputs * float64(s.KH*s.KW))
	}
	if p.backward {
		t.out, _, t.outStride = c.Load(t.out, &t.outB)
		t.in, _, t.inStride = c.Place(t.in, &t.inB)
		if s.Masked() {
			t.word, _, _ = c.Load(t.word, &t.maskB)
			t.mask = Indices(t.word)
		}
		if c.Values() {
			p.spread(t)
		}
		c.Store(&t.inB, t.in)
		return nil
	}
	t.in, _, t.inStride = c.Load(t.in, &t.inB)
	t.out, _, t.outStride = c.Place(t.out, &t.outB)
	if s.Masked() {
		t.word, _, _ = c.Place(t.word, &t.maskB)
		t.mask = Indices(t.word)
	}
	if c.Values() {
		p.gather(t)
	}
	c.Store(&t.outB, t.out)
	if s.Masked() {
		c.Store(&t.maskB, t.word)
	}
	return nil
}

// open finds a tile's blocks and takes LDM for them, twice for double buffering.
func (p *Kernel) open(c *cpe.CPE, t *poolTile) error {
	s := &p.shape
	t.inB = rectangle(p.x, t.plane, s.H, s.W, t.inRows, t.inCols)
	t.outB = rectangle(p.y, t.plane, s.OH, s.OW, t.outRows, t.outCols)
	c.Free()
	var err error
	if t.in, err = c.Alloc("pooling", t.inB.Count()); err != nil {
		return err
	}
	if t.out, err = c.Alloc("pooling", t.outB.Count()); err != nil {
		return err
	}
	values := t.inB.Count() + t.outB.Count()
	if s.Masked() {
		t.maskB = rectangle(asFloats(p.mask), t.plane, s.OH, s.OW, t.outRows, t.outCols)
		if t.word, err = c.Alloc("pooling", t.maskB.Count()); err != nil {
			return err
		}
		values += t.maskB.Count()
	}
	return c.Hold("pooling", values)
}

// rectangle is a part of a plane of h x w values.
func rectangle(data []float32, plane, h, w int, rows, cols tiling.Span) cpe.Block {
	b := cpe.Block{Planes: 1, PlaneStride: rows.N * w, Rows: rows.N, RowStride: w, Cols: cols.N}
	if data != nil && b.Count() > 0 {
		b.Data = data[plane*h*w+rows.At*w+cols.At:]
	}
	return b
}

// asFloats lets DMA, which moves words, move a mask.
func asFloats(mask []int32) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(mask))), len(mask))
}

// Indices views values as the indices that pooling leaves in a mask.
func Indices(words []float32) []int32 {
	return unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(words))), len(words))
}
