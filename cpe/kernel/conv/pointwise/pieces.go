package pointwise

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/tensor"
	"github.com/swcaffe/swcaffe/cpe/kernel/factors"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vconv"
)

// Pieces computes pieces of the results of pointwise-blocked for a kernel behind it, which needs no more of them at a time. Images are in blocks of channels.
type Pieces struct{ v *pointProduct }

// NewPieces prepares the task of a 1x1 convolution without strides. Its arrays are those of the task.
func NewPieces(t *conv.Task) *Pieces {
	s := &t.Shape
	x := tensor.NewImages(s.C, shape.Blocks, s.In, s.Stride)
	y := tensor.NewImages(s.Out, shape.Blocks, s.OutSize(), tiling.Ones(len(s.In)))
	return &Pieces{newPointProduct(t, x, y, factors.Float32)}
}

// Packing is the stage that packs the weights.
func (p *Pieces) Packing() conv.Stage { return p.v.list()[0] }

// Scratch returns the numbers of values of scratch memory for all core groups and for each.
func (p *Pieces) Scratch() (common, group int) { return p.v.common(), p.v.own() }

// Start readies a core group, with scratch memory of its own, before its first Make in a run.
func (p *Pieces) Start(g *cpe.CoreGroup, memory []float32) {
	v, w := p.v, &p.v.workers[g.Index()]
	if w.panels = memory; !v.packsOwn() {
		w.panels = v.kept.Memory(g, v.Args.Fixed, v.common())
	}
}

// Make computes n pixels of an image, from pixel first on, in the two blocks of channels of a panel, and finishes them. The second block goes to to[jump:].
func (p *Pieces) Make(g *cpe.CoreGroup, image, panel, first, n int, to []float32, jump int) {
	v, w := p.v, &p.v.workers[g.Index()]
	s := tensor.Span{Image: image, Images: 1, First: first, N: n}
	left, results := v.in.At(v.Args.X, s, 0, v.blocks(), nil), tensor.Blocks{Data: to, Jump: jump}
	for k := 0; k < v.blocks(); k += v.depth {
		v.multiply(w, s, left, results, vconv.Ahead{}, panel, k)
	}
	if v.Args.Finish == nil {
		return
	}
	for b := range min(2, v.out.Blocks()-2*panel) {
		block := 2*panel + b
		v.Args.Finish(to[b*jump:][:n*shape.BlockLanes], ((image*v.out.Blocks()+block)*v.out.Pixels()+first)*shape.BlockLanes, block)
	}
}
