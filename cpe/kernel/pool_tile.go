package kernel

import (
	"unsafe"

	"github.com/swcaffe/swcaffe/cpe"
)

// span is n places from at on.
type span struct{ at, n int }

func (s span) end() int { return s.at + s.n }

func (s span) has(i int) bool { return i >= s.at && i < s.end() }

// nthSpan is the i-th of the spans of n places that an extent is cut into; the last may be shorter.
func nthSpan(i, n, extent int) span { return span{i * n, min(n, extent-i*n)} }

// window returns the inputs inside the image that an output meets along one axis.
func window(o, stride, pad, kernel, size int) (lo, hi int) {
	lo = o*stride - pad
	return max(lo, 0), min(lo+kernel, size)
}

// met returns the inputs that a span of outputs meets.
func met(o span, stride, pad, kernel, size int) span {
	lo, _ := window(o.at, stride, pad, kernel, size)
	_, hi := window(o.end()-1, stride, pad, kernel, size)
	lo = min(lo, size)
	return span{lo, max(0, hi-lo)}
}

// meeting returns the outputs, of size, that meet a span of inputs.
func meeting(i span, stride, pad, kernel, size int) span {
	lo := 0
	if first := i.at + pad - kernel; first >= 0 {
		lo = min(first/stride+1, size)
	}
	hi := min(size, (i.end()-1+pad)/stride+1)
	return span{lo, max(0, hi-lo)}
}

// poolTile is a tile of a plane: its inputs and outputs, where they lie, and the outputs' mask.
type poolTile struct {
	plane               int
	inRows, inCols      span
	outRows, outCols    span
	in, out, word       []float32
	inStride, outStride int
	inB, outB, maskB    cpe.Block
	mask                []int32
}

// runTile works on one tile: rows and cols are those of outputs forward, of inputs backward.
func (p *Pool) runTile(c *cpe.CPE, t *poolTile, rows, cols span) error {
	s := &p.shape
	if p.backward {
		t.inRows, t.inCols = rows, cols
		t.outRows, t.outCols = meeting(rows, s.SH, s.PH, s.KH, s.OH), meeting(cols, s.SW, s.PW, s.KW, s.OW)
	} else {
		t.outRows, t.outCols = rows, cols
		t.inRows, t.inCols = met(rows, s.SH, s.PH, s.KH, s.H), met(cols, s.SW, s.PW, s.KW, s.W)
	}
	if err := p.open(c, t); err != nil {
		return err
	}
	outputs := float64(t.outRows.n * t.outCols.n)
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
func (p *Pool) open(c *cpe.CPE, t *poolTile) error {
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
func rectangle(data []float32, plane, h, w int, rows, cols span) cpe.Block {
	b := cpe.Block{Planes: 1, PlaneStride: rows.n * w, Rows: rows.n, RowStride: w, Cols: cols.n}
	if data != nil && b.Count() > 0 {
		b.Data = data[plane*h*w+rows.at*w+cols.at:]
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
