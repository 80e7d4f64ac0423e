package norm

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/pool"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
	"github.com/swcaffe/swcaffe/internal/simd/vnorm"
	"github.com/swcaffe/swcaffe/internal/simd/vpool"
)

// Pooled is, on the host, local response normalisation and the maximum pooling of its results in one pass over memory. Of the results,
// and of their gradient, there is a band of rows of one block of channels at a time, in a core's cache. The bits are those of the two
// kernels one after the other in blocks of channels. Inputs and outputs may lie by planes; they are then transposed band by band.
type Pooled struct {
	norm     LRN
	pool     *pool.Kernel // of inputs in blocks
	machine  *cpe.Machine
	planar   bool       // inputs lie by planes
	bands    [2]bandSet // forward and backward
	backward bool

	x, y, dx []float32
	relu     bool
}

// bandSet is how an image is cut in a direction: values is the most that a band has of a block's inputs, room that of its outputs, if these
// are turned.
type bandSet struct {
	bands        []pool.Band
	values, room int
}

// normPoolValues is about how many inputs of a block a band has, of which a core's cache holds several times as many.
const normPoolValues = 12 << 10

// claimedBands is the most bands that a core takes on at a time.
const claimedBands = 8

// NewPooled plans both. It returns nil where there are no kernels for them.
func NewPooled(m *cpe.Machine, n LRN, p pool.Shape) (*Pooled, error) {
	if !shape.HasBlocks(m) || !vnorm.HasNear(n.Size) || p.Method != pool.Max || !p.Blockable() {
		return nil, nil
	}
	v := &Pooled{norm: n, machine: m, planar: !p.InBlocks}
	p.InBlocks = true
	var err error
	if v.pool, err = pool.New(m, p); err != nil {
		return nil, err
	}
	fit := max(1, normPoolValues/(p.W*shape.BlockLanes))
	rows := max(1, (fit-p.KH)/p.SH+1)
	for y := 0; y < p.OH; y += rows {
		outputs := vpool.Rows{From: y, To: min(y+rows, p.OH)}
		v.bands[0].add(&p, v.pool.BandOfOutputs(outputs))
	}
	for y := 0; y < p.H; y += fit {
		inputs := vpool.Rows{From: y, To: min(y+fit, p.H)}
		v.bands[1].add(&p, v.pool.BandOfInputs(inputs))
	}
	return v, nil
}

// add appends a band.
func (b *bandSet) add(p *pool.Shape, band pool.Band) {
	b.bands = append(b.bands, band)
	b.values = max(b.values, (band.Inputs.To-band.Inputs.From)*p.W*shape.BlockLanes)
	if p.TurnsOut() {
		b.room = max(b.room, (band.Outputs.To-band.Outputs.From)*p.OW*shape.BlockLanes)
	}
}

// MaskWords returns how long the mask of both directions is.
func (v *Pooled) MaskWords() int { return v.pool.MaskWords() }

// scratch is the room of core groups, in a direction: forward for s, y and zeros, backward for s, zeros, the results' gradients and
// three blocks' ratios; and for three blocks of inputs and two of their gradients that are turned.
func (v *Pooled) scratch(backward bool) cpe.Scratch {
	set, rows := &v.bands[0], 3
	if v.planar {
		rows += 3
	}
	if backward {
		set, rows = &v.bands[1], rows+3
		if v.planar {
			rows += 2
		}
	}
	return cpe.Scratch{Group: rows*set.values + set.room}
}

// Scratch returns how many values of scratch Forward and Backward take.
func (v *Pooled) Scratch() (forward, backward int) {
	return v.machine.Needs(v.scratch(false)), v.machine.Needs(v.scratch(true))
}

// Turns is as Conv.Turns.
func (v *Pooled) Turns() (times, values int) {
	times, values = v.pool.Turns()
	if s := v.pool.Shape(); v.planar {
		times, values = times+3, values+3*s.N*s.C*s.H*s.W
	}
	return times, values
}

// Forward pools what is made of x into y; mask is as Pool's.
func (v *Pooled) Forward(x, y []float32, mask []int32) error {
	v.backward, v.x, v.y = false, x, y
	v.pool.SetMask(mask)
	return v.run()
}

// Backward computes dx of the outputs' gradients dy. With relu it is that of the input of a ReLU layer whose result x is.
func (v *Pooled) Backward(x, dy []float32, mask []int32, dx []float32, relu bool) error {
	v.backward, v.x, v.y, v.dx, v.relu = true, x, dy, dx, relu
	v.pool.SetMask(mask)
	return v.run()
}

func (v *Pooled) run() error {
	v.machine.TakeScratch(v.scratch(v.backward))
	return v.machine.Run(v, v.pool.Groups())
}

// Algorithm is Bands.
func (v *Pooled) Algorithm() shape.Algorithm { return Bands }

// Name names the two.
func (v *Pooled) Name() string { return "normalisation and pooling" }

// RunGroup does the bands that a core group takes.
func (v *Pooled) RunGroup(g *cpe.CoreGroup) error {
	set := &v.bands[0]
	if v.backward {
		set = &v.bands[1]
	}
	n := v.pool.Shape().N * len(set.bands)
	for lo, hi := g.Claim(n, claimedBands); lo < hi; lo, hi = g.Claim(n, claimedBands) {
		for i := lo; i < hi; i++ {
			w := normBand{Pooled: v, Band: &set.bands[i%len(set.bands)], image: i / len(set.bands)}
			w.memory = g.Memory(v.scratch(v.backward).Group)
			w.zeros = w.take(1)
			clear(w.zeros)
			if v.backward {
				w.backward()
			} else {
				w.forward()
			}
		}
	}
	return nil
}

// normBand is the work on a band.
type normBand struct {
	*Pooled
	*pool.Band
	image  int
	memory []float32 // what is left of it
	zeros  []float32
}

// take returns memory for rows of a block's inputs.
func (w *normBand) take(rows int) []float32 {
	n := rows * (w.Inputs.To - w.Inputs.From) * w.pool.Shape().W * shape.BlockLanes
	taken := w.memory[:n]
	w.memory = w.memory[n:]
	return taken
}

// planes is where the band of the first channel begins in inputs that lie by planes.
func (w *normBand) planes(data []float32) []float32 {
	s := w.pool.Shape()
	return data[w.image*s.C*s.H*s.W+w.Inputs.From*s.W:]
}

// rows are the band's blocks of inputs where they lie, or slots of them that are turned.
func (w *normBand) rows(data []float32, slots int) BlockRows {
	s := w.pool.Shape()
	r := BlockRows{Zeros: w.zeros, Count: s.C / shape.BlockLanes}
	if w.planar {
		r.Data, r.Stride, r.Slot = w.take(slots), len(w.zeros), slots
		return r
	}
	plane := s.H * s.W * shape.BlockLanes
	r.Data, r.Stride, r.Slot = data[w.image*r.Count*plane+w.Inputs.From*s.W*shape.BlockLanes:], plane, r.Count
	return r
}

// load brings block m of x to its row, if it is turned.
func (w *normBand) load(x *BlockRows, m int) {
	if s := w.pool.Shape(); w.planar && m < x.Count {
		plane := s.H * s.W
		vec.Transpose(x.Row(m), w.planes(w.x)[m*shape.BlockLanes*plane:], shape.BlockLanes, plane, shape.BlockLanes, len(w.zeros)/shape.BlockLanes)
	}
}

// store brings block m of dx to its planes, if it is turned.
func (w *normBand) store(dx *BlockRows, m int) {
	if s := w.pool.Shape(); w.planar {
		plane := s.H * s.W
		vec.Transpose(w.planes(w.dx)[m*shape.BlockLanes*plane:], dx.Row(m), plane, shape.BlockLanes, len(w.zeros)/shape.BlockLanes, shape.BlockLanes)
	}
}

// forward normalises the band block by block, and pools each.
func (w *normBand) forward() {
	x, s, y := w.rows(w.x, 3), w.take(1), w.take(1)
	w.load(&x, 0)
	for m := range x.Count {
		w.load(&x, m+1)
		w.norm.Forward(s, y, x.Around(m))
		w.pool.MaxBand(w.y, w.image*x.Count+m, w.Band, y, w.memory)
	}
}

// backward makes the results' gradients block by block; dx of a block gets its second term when the next block's ratio is there.
func (w *normBand) backward() {
	x, dx := w.rows(w.x, 3), w.rows(w.dx, 2)
	s, dy := w.take(1), w.take(1)
	ratio := BlockRows{w.take(3), w.zeros, len(w.zeros), x.Count, 3}
	w.load(&x, 0)
	for m := range x.Count + 1 {
		if m < x.Count {
			w.load(&x, m+1)
			w.pool.MaxBandGrad(dy, w.image*x.Count+m, w.Band, w.y, w.memory)
			w.norm.Own(s, dx.Row(m), ratio.Row(m), dy, x.Around(m))
		}
		if m > 0 {
			w.norm.Others(dx.Row(m-1), x.Row(m-1), ratio.Around(m-1), w.relu)
			w.store(&dx, m-1)
		}
	}
}
