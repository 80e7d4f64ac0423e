package winograd

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/pool"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/internal/base/simd/vpool"
)

// Pooling is max pooling fused with Winograd's convolution on the host, for one slice of channels of an image at a time. Results are
// pooled as soon as they are transformed back. Their gradient is computed just before it is transformed. Both therefore stay in L1.
type Pooling struct {
	Shape  pool.Shape
	kernel *vpool.Blocks
	places []uint8 // the places of the maxima, for all lanes of the slices
}

// NewPooling returns nil if no kernel supports the pooling p.
func NewPooling(p pool.Shape) *Pooling {
	if p.Method != pool.Max || p.KH*p.KW > vpool.MaxBlockWindow || !p.Meets() || p.OutBlocks && p.C%shape.BlockLanes != 0 {
		return nil
	}
	return &Pooling{Shape: p, kernel: vpool.NewBlocks(vpool.BlocksShape{
		H: p.H, W: p.W, OH: p.OH, OW: p.OW, KH: p.KH, KW: p.KW, SH: p.SH, SW: p.SW, Top: p.PH, Left: p.PW,
	})}
}

// Build fills in the stages of a task: Winograd's convolution with the tiles of a strategy, fused with pooling.
func (p *Pooling) Build(t *conv.Task, st shape.Strategy) {
	w := &task{Task: t, pooled: p, form: formOf(&t.Shape, st)}
	if t.Direction == shape.Forward {
		newTiles(newConvolution(w))
	} else {
		newSmall(w)
	}
}

// TilesAreImages reports whether a kernel is tilesKernel with whole images as patches.
func TilesAreImages(k conv.Kernel) bool {
	t, ok := k.(*conv.Task)
	if !ok || len(t.Stages) == 0 {
		return false
	}
	v, ok := t.Stages[len(t.Stages)-1].Program.(*tilesKernel)
	return ok && v.grid.bands*v.grid.stripes == 1
}

// in and out are the numbers of values of a slice of an image's results, and of its pooled outputs.
func (p *Pooling) in() int  { return shape.BlockLanes * p.Shape.H * p.Shape.W }
func (p *Pooling) out() int { return shape.BlockLanes * p.Shape.OH * p.Shape.OW }

// room is the number of values that a core group needs for pooling: a slice of results or of their gradient, and one of outputs. It is 0 if p
// is nil.
func (p *Pooling) room() int {
	if p == nil {
		return 0
	}
	return p.in() + p.out()
}

// MaskWords is the number of words of the mask.
func (p *Pooling) MaskWords() int {
	return p.Shape.N * tiling.Blocks(p.Shape.C, shape.BlockLanes) * p.out() / 4
}

// slice returns a slice of an image's outputs, or of their gradient, the number of its channels, and the places of its maxima.
func (p *Pooling) slice(y []float32, image, slice int) (outputs []float32, lanes int, places []uint8) {
	s := &p.Shape
	first, n := slice*shape.BlockLanes, image*tiling.Blocks(s.C, shape.BlockLanes)+slice
	lanes = min(shape.BlockLanes, s.C-first)
	return y[(image*s.C+first)*s.OH*s.OW:][:lanes*s.OH*s.OW], lanes, p.places[n*p.out() : (n+1)*p.out()]
}

// SetMask selects the mask that records the places of the maxima.
func (p *Pooling) SetMask(mask []int32) { p.places = pool.MaskBytes(mask) }

// results returns the memory for a slice of results that max will pool.
func (p *Pooling) results(room []float32) []float32 { return room[:p.in()] }

// max pools a slice of results to the outputs y.
func (p *Pooling) max(room, y []float32, image, slice int) {
	s := &p.Shape
	plane, all := s.OH*s.OW, vpool.Rows{To: s.OH}
	to, lanes, places := p.slice(y, image, slice)
	if s.OutBlocks {
		p.kernel.Max(to, places, room, all, s.ReLU)
		return
	}
	maxima := room[p.in():]
	p.kernel.Max(maxima, places, room, all, s.ReLU)
	vec.Transpose(to, maxima, plane, shape.BlockLanes, plane, lanes)
}

// grad computes the gradient of a slice of results from that of the outputs.
func (p *Pooling) grad(room, dy []float32, image, slice int) []float32 {
	s := &p.Shape
	plane := s.OH * s.OW
	from, lanes, places := p.slice(dy, image, slice)
	if !s.OutBlocks {
		planes := from
		from = room[p.in():]
		if lanes < shape.BlockLanes {
			clear(from)
		}
		vec.Transpose(from, planes, shape.BlockLanes, plane, lanes, plane)
	}
	p.kernel.MaxGrad(room, from, places, vpool.Rows{To: s.H})
	return p.results(room)
}
