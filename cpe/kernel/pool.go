package kernel

import (
	"fmt"
	"unsafe"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/simd"
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

// PoolShape describes pooling of N x C planes of H x W into planes of OH x OW by windows of KH x KW, SH and SW apart, over
// planes padded by PH and PW.
type PoolShape struct {
	N, C, H, W     int
	KH, KW, SH, SW int
	PH, PW         int
	OH, OW         int
	Method         PoolMethod
	Train          bool
	// ReLU: outputs of PoolMax that are not above 0 become 0 and get no gradient, as if a ReLU layer came before the pooling.
	ReLU bool
	// Packed: nobody but Backward reads the mask, which may then be shorter than outputs are many; see Pool.MaskWords.
	Packed bool
	// InBlocks, OutBlocks: inputs, outputs and their gradients lie in blocks of channels (BlockLanes); for shapes of Pool.Blocks.
	InBlocks, OutBlocks bool
}

// Masked reports whether outputs remember which input they took.
func (s *PoolShape) Masked() bool {
	return s.Method == PoolMax || s.Method == PoolStochastic && s.Train
}

// PoolPlan says which tiles of a plane a CPE takes: bands of whole rows while they fit, else strips of columns of one row
// (swCaffe, section IV-D). Forward tiles are of outputs, with the inputs that their windows meet; backward tiles are of
// inputs, with the outputs whose windows meet them. Natively a tile is a plane.
type PoolPlan struct {
	Rows, Cols             int // of outputs, forward
	BackwardRows, BackCols int // of inputs, backward
}

// String prints the plan on a line.
func (p PoolPlan) String() string {
	return fmt.Sprintf("forward %dx%d outputs, backward %dx%d inputs", p.Rows, p.Cols, p.BackwardRows, p.BackCols)
}

// PlanPool cuts planes so that two tiles, for double buffering, fit LDM.
func PlanPool(spec *cpe.Spec, s PoolShape) (PoolPlan, error) {
	p := PoolPlan{s.OH, s.OW, s.H, s.W}
	if spec.Native() {
		return p, nil
	}
	need := func(ih, iw, oh, ow int) int { return 2 * (ih*iw + 2*oh*ow) }
	forward := func(oh, ow int) int {
		return need(min(s.H, (oh-1)*s.SH+s.KH), min(s.W, (ow-1)*s.SW+s.KW), oh, ow)
	}
	backward := func(ih, iw int) int {
		return need(ih, iw, min(s.OH, (ih+s.KH-2)/s.SH+1), min(s.OW, (iw+s.KW-2)/s.SW+1))
	}
	var err error
	if p.Rows, p.Cols, err = cutPlane(spec, s.OH, s.OW, forward); err != nil {
		return p, err
	}
	p.BackwardRows, p.BackCols, err = cutPlane(spec, s.H, s.W, backward)
	return p, err
}

// cutPlane returns the largest tile of a plane of h x w that fits LDM.
func cutPlane(spec *cpe.Spec, h, w int, need func(rows, cols int) int) (rows, cols int, err error) {
	limit := spec.LDMFloats()
	if rows = largest(h, func(n int) bool { return need(n, w) <= limit }); rows > 0 {
		return rows, w, nil
	}
	if cols = largest(w, func(n int) bool { return need(1, n) <= limit }); cols > 0 {
		return 1, cols, nil
	}
	return 0, 0, &cpe.LDMError{Kernel: "pooling", Asked: 4 * need(1, 1), Have: spec.LDMBytes}
}

// Pool executes a PoolShape.
type Pool struct {
	shape    PoolShape
	plan     PoolPlan
	machine  *cpe.Machine
	backward bool

	x, y []float32
	mask []int32
	key  uint64

	global  bool         // on the host, means of whole planes
	planes  *simd.Planes // on the host, windows that have kernels of their own
	shares  []float32    // room of each core group for the gradients of a plane's means
	packed  bool         // the mask has bytes that say which places of windows were taken
	indices []int32      // room of each core group for a plane's unpacked mask

	blocks *blockPool // if inputs or outputs lie in blocks
}

// NewPool plans a pooling.
func NewPool(m *cpe.Machine, s PoolShape) (*Pool, error) {
	spec := m.Spec()
	plan, err := PlanPool(&spec, s)
	if err != nil {
		return nil, err
	}
	p := &Pool{shape: s, plan: plan, machine: m}
	if p.blocks, err = p.newBlockPool(); err != nil {
		return nil, err
	}
	if p.blocks == nil {
		p.preparePlanes()
	}
	return p, nil
}

// Name returns "pooling".
func (p *Pool) Name() string { return "pooling" }

// Plan returns how planes are cut.
func (p *Pool) Plan() PoolPlan { return p.plan }

// MaskWords returns how long the mask of Forward and Backward is: an index for each output, or, packed on the host or with blocks, a
// byte.
func (p *Pool) MaskWords() int {
	s := &p.shape
	switch n := s.N * s.C * s.OH * s.OW; {
	case !s.Masked():
		return 0
	case p.packed || p.blocks != nil:
		return blocks(n, 4)
	default:
		return n
	}
}

// Forward pools x into y. mask, not used by PoolAve, gets the index in its plane of the value each output took (max, and
// stochastic in training), -1 where it took none, unless it is packed or there are blocks; key seeds the draws.
func (p *Pool) Forward(x, y []float32, mask []int32, key uint64) error {
	p.backward, p.x, p.y, p.mask, p.key = false, x, y, mask, key
	return p.run()
}

// Backward spreads the outputs' gradients dy over the inputs' dx, which is overwritten.
func (p *Pool) Backward(dy []float32, mask []int32, dx []float32) error {
	p.backward, p.x, p.y, p.mask = true, dx, dy, mask
	return p.run()
}

func (p *Pool) run() error {
	if p.blocks != nil {
		p.machine.TakeScratch(p.blocks.scratch())
	}
	return p.machine.Run(p, p.groups())
}

func (p *Pool) groups() int {
	if s := &p.shape; p.machine.Native() && s.N*s.C*s.H*s.W < hostTile {
		return 1
	}
	return 0
}

// RunGroup does a core group's share of the tiles.
func (p *Pool) RunGroup(g *cpe.CoreGroup) error {
	s := &p.shape
	switch {
	case p.blocks != nil:
		p.runBlocks(g)
		return nil
	case p.global || p.planes != nil:
		p.runPlanes(g)
		return nil
	}
	h, w, rows, cols := s.OH, s.OW, p.plan.Rows, p.plan.Cols
	if p.backward {
		h, w, rows, cols = s.H, s.W, p.plan.BackwardRows, p.plan.BackCols
	}
	if h == 0 || w == 0 {
		return nil
	}
	bands, strips := blocks(h, rows), blocks(w, cols)
	lo, hi := g.Share(s.N * s.C * bands * strips)
	cpes := g.CPEs()[:g.Deal(hi-lo)]
	for n := lo; n < hi; n++ {
		c, key := cpes[(n-lo)%len(cpes)], n%(strips*bands)
		if g.Charged(c, key) {
			if (n-lo+1)%len(cpes) == 0 {
				p.turn(g)
			}
			continue
		}
		t := poolTile{plane: n / strips / bands}
		at := span{n / strips % bands * rows, 0}
		at.n = min(rows, h-at.at)
		across := span{n % strips * cols, 0}
		across.n = min(cols, w-across.at)
		if err := p.runTile(c, &t, at, across); err != nil {
			return err
		}
		g.Remember(c, key)
		if (n-lo+1)%len(cpes) == 0 {
			p.turn(g)
		}
	}
	g.Sync()
	return nil
}

// turn ends the work on a tile of each CPE.
func (p *Pool) turn(g *cpe.CoreGroup) {
	if g.Spec().Software.ScalarCycles > 0 {
		g.Sync()
		return
	}
	g.Overlap()
}

// span is n places from at on.
type span struct{ at, n int }

func (s span) end() int { return s.at + s.n }

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
	t.maskB = rectangle(asFloats(p.mask), t.plane, s.OH, s.OW, t.outRows, t.outCols)
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
