package norm

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/pool"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/internal/base/simd/vnorm"
)

// Pooled normalises across channels and pools the results by maximum, in one pass over memory. Only a band of rows of one block of channels of
// the results, or of their gradient, exists at a time, in a core's cache. The bits are those of the two kernels one after the other in blocks
// of channels. Inputs and outputs may be in planes; they are then reordered band by band.
type Pooled struct {
	norm     LRN
	pool     *pool.Kernel // of inputs in blocks
	machine  *cpe.Machine
	planar   bool       // inputs are in planes
	forward  pool.Bands // of Forward
	grad     pool.Bands // of Backward
	backward bool

	x, y, dx []float32
	relu     bool
}

// normPoolValues is about the number of inputs of a block in a band. A core's cache holds several times as many.
const normPoolValues = 12 << 10

// claimedBands is the largest number of bands that a core claims at a time.
const claimedBands = 8

// NewPooled plans both. It returns nil if there are no kernels for them.
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
	rows := max(1, min((fit-p.KH)/p.SH+1, tiling.Blocks(p.N*p.OH, m.Spec().CoreGroups)))
	v.forward, v.grad = v.pool.BandsOfOutputs(rows), v.pool.BandsOfInputs(fit)
	return v, nil
}

// bands returns the bands of a direction.
func (v *Pooled) bands(backward bool) *pool.Bands {
	if backward {
		return &v.grad
	}
	return &v.forward
}

// MaskWords returns the length of the mask of both directions.
func (v *Pooled) MaskWords() int { return v.pool.MaskWords() }

// scratch returns the need of a direction's scratch memory in blocks of a band: forward s, y and zeros; backward s, zeros, the results'
// gradient and the ratios of three blocks. Inputs in planes need three more, and their gradients two; outputs in planes need a band of them.
func (v *Pooled) scratch(backward bool) cpe.Scratch {
	bands, blocks := v.bands(backward), 3
	if v.planar {
		blocks += 3
	}
	if backward {
		blocks += 3
		if v.planar {
			blocks += 2
		}
	}
	s := cpe.Scratch{Group: blocks * bands.Inputs}
	if v.pool.Shape().TurnsOut() {
		s.Group += bands.Outputs
	}
	return s
}

// Scratch returns the number of values of scratch memory that Forward and Backward use.
func (v *Pooled) Scratch() (forward, backward int) {
	return v.machine.Needs(v.scratch(false)), v.machine.Needs(v.scratch(true))
}

// Turns returns how many times a forward and a backward pass reorder arrays between planes and blocks of channels, and of how many values in
// all.
func (v *Pooled) Turns() (times, values int) {
	times, values = v.pool.Turns()
	if s := v.pool.Shape(); v.planar {
		times, values = times+3, values+3*s.N*s.C*s.H*s.W
	}
	return times, values
}

// Forward normalises x and pools the results into y; mask is that of pool.Kernel.Forward.
func (v *Pooled) Forward(x, y []float32, mask []int32) error {
	v.backward, v.x, v.y = false, x, y
	v.pool.SetMask(mask)
	return v.run()
}

// Backward computes dx from the outputs' gradient dy. With relu, x is the result of a ReLU layer, and dx the gradient of that layer's input.
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

// RunGroup computes the bands that a core group claims.
func (v *Pooled) RunGroup(g *cpe.CoreGroup) error {
	bands := v.bands(v.backward).List
	n := v.pool.Shape().N * len(bands)
	for lo, hi := g.Claim(n, claimedBands); lo < hi; lo, hi = g.Claim(n, claimedBands) {
		for i := lo; i < hi; i++ {
			w := normBand{Pooled: v, Band: &bands[i%len(bands)], image: i / len(bands)}
			w.memory = g.Memory(v.scratch(v.backward).Group)
			w.zeros = w.take(1)
			clear(w.zeros)
			if v.backward {
				w.gradient()
			} else {
				w.results()
			}
		}
	}
	return nil
}

// normBand computes one band.
type normBand struct {
	*Pooled
	*pool.Band
	image  int
	memory []float32 // scratch memory that has not been taken
	zeros  []float32
}

// take returns memory for rows of a block's inputs.
func (w *normBand) take(rows int) []float32 {
	n := rows * (w.Inputs.To - w.Inputs.From) * w.pool.Shape().W * shape.BlockLanes
	taken := w.memory[:n]
	w.memory = w.memory[n:]
	return taken
}

// planes returns the band's part of inputs in planes, from the first channel on.
func (w *normBand) planes(data []float32) []float32 {
	s := w.pool.Shape()
	return data[w.image*s.C*s.H*s.W+w.Inputs.From*s.W:]
}

// rows returns the band's blocks of inputs: in place or, for inputs in planes, as many slots for reordered copies.
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

// load reorders block m of x into its slot, if inputs are in planes.
func (w *normBand) load(x *BlockRows, m int) {
	if s := w.pool.Shape(); w.planar && m < x.Count {
		plane := s.H * s.W
		vec.Transpose(x.Row(m), w.planes(w.x)[m*shape.BlockLanes*plane:], shape.BlockLanes, plane, shape.BlockLanes, len(w.zeros)/shape.BlockLanes)
	}
}

// store reorders block m of dx into its planes, if inputs are in planes.
func (w *normBand) store(dx *BlockRows, m int) {
	if s := w.pool.Shape(); w.planar {
		plane := s.H * s.W
		vec.Transpose(w.planes(w.dx)[m*shape.BlockLanes*plane:], dx.Row(m), plane, shape.BlockLanes, len(w.zeros)/shape.BlockLanes, shape.BlockLanes)
	}
}

// results normalises the band block by block, and pools each block.
func (w *normBand) results() {
	x, s, y := w.rows(w.x, 3), w.take(1), w.take(1)
	w.load(&x, 0)
	for m := range x.Count {
		w.load(&x, m+1)
		w.norm.Forward(s, y, x.Around(m))
		w.pool.MaxBand(w.y, w.image*x.Count+m, w.Band, y, w.memory)
	}
}

// gradient computes the results' gradient block by block. The second term of a block's dx is added when the next block's ratio is known.
func (w *normBand) gradient() {
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
