package kernel

import (
	"unsafe"

	"github.com/swcaffe/swcaffe/cpe"
)

// PoolMethod is how a window becomes one value.
type PoolMethod int

const (
	// PoolMax takes the largest value, of equals the first.
	PoolMax PoolMethod = iota
	// PoolAve takes the mean over the window inside the padded image.
	PoolAve
	// PoolStochastic draws a value with probability proportional to it in training, and takes the mean weighted by the
	// values otherwise (Zeiler and Fergus 2013).
	PoolStochastic
)

// PoolShape describes pooling of N x C planes of H x W into planes of OH x OW.
type PoolShape struct {
	N, C, H, W     int
	KH, KW, SH, SW int
	PH, PW         int
	OH, OW         int
	Method         PoolMethod
	Train          bool
}

// Pool executes a PoolShape. A CPE takes a band of output rows of one plane and the input rows it needs; natively a band
// is a whole plane.
type Pool struct {
	shape    PoolShape
	machine  *cpe.Machine
	rows     int // output rows a band, forward
	inRows   int // input rows a band, backward
	backward bool

	x, y []float32
	mask []int32
	key  uint64
}

// NewPool cuts the planes into bands that fit LDM.
func NewPool(m *cpe.Machine, s PoolShape) (*Pool, error) {
	p := &Pool{shape: s, machine: m, rows: s.OH, inRows: s.H}
	if m.Native() {
		return p, nil
	}
	spec := m.Spec()
	fits := func(in, out int) bool { return 4*(in*s.W+2*out*s.OW) <= spec.LDMBytes }
	p.rows = largest(s.OH, func(n int) bool { return fits(min(s.H, (n-1)*s.SH+s.KH), n) })
	p.inRows = largest(s.H, func(n int) bool { return fits(n, min(s.OH, p.outputsOver(n))) })
	if p.rows == 0 || p.inRows == 0 {
		asked := 4 * (min(s.H, s.KH)*s.W + 2*max(1, p.outputsOver(1))*s.OW)
		return nil, &cpe.LDMError{Kernel: "pooling", Asked: asked, Have: spec.LDMBytes}
	}
	return p, nil
}

// outputsOver is the largest number of output rows whose windows meet n input rows.
func (p *Pool) outputsOver(n int) int { return (n+p.shape.KH-2)/p.shape.SH + 1 }

// Name returns "pooling".
func (p *Pool) Name() string { return "pooling" }

// Forward pools x into y. mask, not used by PoolAve, gets the index in its plane of the value each output took (max, and
// stochastic in training); key seeds the draws.
func (p *Pool) Forward(x, y []float32, mask []int32, key uint64) error {
	p.backward, p.x, p.y, p.mask, p.key = false, x, y, mask, key
	return p.machine.Run(p, p.groups())
}

// Backward spreads the outputs' gradients dy over the inputs' dx, which is overwritten.
func (p *Pool) Backward(dy []float32, mask []int32, dx []float32) error {
	p.backward, p.x, p.y, p.mask = true, dx, dy, mask
	return p.machine.Run(p, p.groups())
}

func (p *Pool) groups() int {
	if s := &p.shape; p.machine.Native() && s.N*s.C*s.H*s.W < hostTile {
		return 1
	}
	return 0
}

// RunGroup does a core group's share of the bands.
func (p *Pool) RunGroup(g *cpe.CoreGroup) error {
	s := &p.shape
	extent, size := s.OH, p.rows
	if p.backward {
		extent, size = s.H, p.inRows
	}
	bands := blocks(extent, size)
	lo, hi := g.Share(s.N * s.C * bands)
	cpes := g.CPEs()[:g.Deal(hi-lo)]
	for n := lo; n < hi; n++ {
		c, plane, row := cpes[(n-lo)%len(cpes)], n/bands, n%bands*size
		run := p.forwardBand
		if p.backward {
			run = p.backwardBand
		}
		c.Free()
		if err := run(c, plane, row, min(size, extent-row)); err != nil {
			return err
		}
	}
	g.Sync(true)
	return nil
}

// poolBand is a band's buffers: input rows from in0 on, output rows from out0 on, and the outputs' mask.
type poolBand struct {
	plane            int
	in, out          []float32
	mask             []int32
	in0, ins         int
	out0, outs       int
	inB, outB, maskB cpe.Block
	maskF            []float32
}

func (p *Pool) masked() bool {
	return p.shape.Method == PoolMax || p.shape.Method == PoolStochastic && p.shape.Train
}

// open takes LDM for a band.
func (p *Pool) open(c *cpe.CPE, b *poolBand) error {
	s := &p.shape
	b.inB = line(p.x, b.plane*s.H*s.W+b.in0*s.W, b.ins*s.W)
	b.outB = line(p.y, b.plane*s.OH*s.OW+b.out0*s.OW, b.outs*s.OW)
	var err error
	if b.in, err = c.Alloc("pooling", b.inB.Cols); err != nil {
		return err
	}
	if b.out, err = c.Alloc("pooling", b.outB.Cols); err != nil || !p.masked() {
		return err
	}
	b.maskB = line(asFloats(p.mask), b.plane*s.OH*s.OW+b.out0*s.OW, b.outs*s.OW)
	b.maskF, err = c.Alloc("pooling", b.maskB.Cols)
	return err
}

// asFloats lets DMA, which moves words, move a mask.
func asFloats(mask []int32) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(mask))), len(mask))
}

func asInts(words []float32) []int32 {
	return unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(words))), len(words))
}

// window returns the part inside the image of the window of output o along one axis.
func window(o, stride, pad, kernel, size int) (lo, hi int) {
	lo = o*stride - pad
	return max(lo, 0), min(lo+kernel, size)
}

func (p *Pool) forwardBand(c *cpe.CPE, plane, row, rows int) error {
	s := &p.shape
	b := poolBand{plane: plane, out0: row, outs: rows}
	lo, _ := window(row, s.SH, s.PH, s.KH, s.H)
	_, hi := window(row+rows-1, s.SH, s.PH, s.KH, s.H)
	b.in0, b.ins = min(lo, s.H), max(0, hi-lo)
	if err := p.open(c, &b); err != nil {
		return err
	}
	b.in, _, _ = c.Load(b.in, &b.inB)
	b.out, _, _ = c.Place(b.out, &b.outB)
	if p.masked() {
		b.maskF, _, _ = c.Place(b.maskF, &b.maskB)
		b.mask = asInts(b.maskF)
	}
	c.Compute(float64(rows*s.OW*s.KH*s.KW), 0)
	if c.Values() {
		p.pool(&b)
	}
	c.Store(&b.outB, b.out)
	if p.masked() {
		c.Store(&b.maskB, b.maskF)
	}
	return nil
}

func (p *Pool) pool(b *poolBand) {
	s := &p.shape
	for oy := range b.outs {
		y0, y1 := window(b.out0+oy, s.SH, s.PH, s.KH, s.H)
		for ox := range s.OW {
			x0, x1 := window(ox, s.SW, s.PW, s.KW, s.W)
			at := oy*s.OW + ox
			switch {
			case s.Method == PoolMax:
				b.out[at], b.mask[at] = largestIn(b, s.W, y0, y1, x0, x1)
			case s.Method == PoolAve:
				b.out[at] = sumIn(b, s.W, y0, y1, x0, x1) / float32(p.divisor(b.out0+oy, ox))
			case s.Train:
				draw := UniformFloat(p.key, uint64(b.plane*s.OH*s.OW+b.out0*s.OW+at))
				b.out[at], b.mask[at] = drawFrom(b, s.W, y0, y1, x0, x1, draw)
			default:
				b.out[at] = weightedMean(b, s.W, y0, y1, x0, x1)
			}
		}
	}
}

// divisor is the size of a window with the padding inside size + pad counted, as in Caffe.
func (p *Pool) divisor(oy, ox int) int {
	s := &p.shape
	y, x := oy*s.SH-s.PH, ox*s.SW-s.PW
	return (min(y+s.KH, s.H+s.PH) - y) * (min(x+s.KW, s.W+s.PW) - x)
}

func largestIn(b *poolBand, w, y0, y1, x0, x1 int) (float32, int32) {
	if y0 >= y1 || x0 >= x1 {
		return 0, -1
	}
	best := (y0-b.in0)*w + x0
	value := b.in[best]
	for y := y0; y < y1; y++ {
		from := (y - b.in0) * w
		for x, v := range b.in[from+x0 : from+x1] {
			if v > value || v != v {
				value, best = v, from+x0+x
			}
		}
	}
	return value, int32(best + b.in0*w)
}

func sumIn(b *poolBand, w, y0, y1, x0, x1 int) float32 {
	var sum float32
	for y := y0; y < y1; y++ {
		from := (y - b.in0) * w
		for _, v := range b.in[from+x0 : from+x1] {
			sum += v
		}
	}
	return sum
}

func drawFrom(b *poolBand, w, y0, y1, x0, x1 int, draw float32) (float32, int32) {
	threshold := draw * sumIn(b, w, y0, y1, x0, x1)
	var sum float32
	last := (y0-b.in0)*w + x0
	for y := y0; y < y1; y++ {
		from := (y - b.in0) * w
		for x := x0; x < x1; x++ {
			last = from + x
			sum += b.in[last]
			if sum >= threshold {
				return b.in[last], int32(last + b.in0*w)
			}
		}
	}
	return b.in[last], int32(last + b.in0*w)
}

func weightedMean(b *poolBand, w, y0, y1, x0, x1 int) float32 {
	var sum, squares float32
	for y := y0; y < y1; y++ {
		from := (y - b.in0) * w
		for _, v := range b.in[from+x0 : from+x1] {
			sum += v
			squares += v * v
		}
	}
	if sum <= 0 {
		return 0
	}
	return squares / sum
}

func (p *Pool) backwardBand(c *cpe.CPE, plane, row, rows int) error {
	s := &p.shape
	b := poolBand{plane: plane, in0: row, ins: rows}
	first := 0
	if row+s.PH >= s.KH {
		first = (row+s.PH-s.KH)/s.SH + 1
	}
	last := min(s.OH-1, (row+rows-1+s.PH)/s.SH)
	b.out0 = min(first, s.OH)
	b.outs = max(0, last-b.out0+1)
	if err := p.open(c, &b); err != nil {
		return err
	}
	b.out, _, _ = c.Load(b.out, &b.outB)
	b.in, _, _ = c.Place(b.in, &b.inB)
	if p.masked() {
		b.maskF, _, _ = c.Load(b.maskF, &b.maskB)
		b.mask = asInts(b.maskF)
	}
	c.Compute(float64(b.outs*s.OW*s.KH*s.KW), 0)
	if c.Values() {
		p.spread(&b)
	}
	c.Store(&b.inB, b.in)
	return nil
}

// spread adds the outputs' gradients, in their order, to the inputs of the band.
func (p *Pool) spread(b *poolBand) {
	s := &p.shape
	from, to := b.in0*s.W, (b.in0+b.ins)*s.W
	clear(b.in[:b.ins*s.W])
	for oy := range b.outs {
		for ox := range s.OW {
			at := oy*s.OW + ox
			if p.masked() {
				if m := int(b.mask[at]); m >= from && m < to {
					b.in[m-from] += b.out[at]
				}
				continue
			}
			y0, y1 := window(b.out0+oy, s.SH, s.PH, s.KH, s.H)
			x0, x1 := window(ox, s.SW, s.PW, s.KW, s.W)
			v := b.out[at] / float32(p.divisor(b.out0+oy, ox))
			for y := max(y0, b.in0); y < min(y1, b.in0+b.ins); y++ {
				row := b.in[(y-b.in0)*s.W:]
				for x := x0; x < x1; x++ {
					row[x] += v
				}
			}
		}
	}
}
