// Package pool pools planes of images by windows, and computes the gradient.
//
// A [Kernel] is planned for one [Shape]: maximum, mean or stochastic pooling as in Caffe. Of the algorithms that
// support the shape on the machine (algorithm.go) it takes the one of least cost (cost.go); Kernel.Algorithm names it. A mask records which input each maximum
// took.
//
// A convolution or a normalisation can pool its results while they are in a core's cache. Kernel.MaxBand, Kernel.MaxBandGrad and the methods
// beside them (bands.go) are for that. Their callers set the mask with Kernel.SetMask.
package pool

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// Kernel pools images of one shape.
type Kernel struct {
	shape         Shape
	plan          Plan
	machine       *cpe.Machine
	forward, grad computed
	call

	// What the algorithms have prepared, nil for those that do not run.
	blocks  *blockPool
	planes  *planePool
	columns *columnPool
	pieces  *piecePool
}

// call has the arguments of the current Forward or Backward; x and y are then gradients.
type call struct {
	backward bool
	x, y     []float32
	mask     []int32
	key      uint64
}

// New plans a pooling.
func New(m *cpe.Machine, s Shape) (*Kernel, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	spec := m.Spec()
	plan, err := NewPlan(&spec, s)
	if err != nil {
		return nil, err
	}
	p := &Kernel{shape: s, plan: plan, machine: m}
	if p.forward, err = p.choose(shape.Forward); err != nil {
		return nil, err
	}
	if p.grad, err = p.choose(shape.InputGradient); err != nil {
		return nil, err
	}
	if err := p.forward.prepare(p); err != nil || p.grad.name == p.forward.name {
		return p, err
	}
	return p, p.grad.prepare(p)
}

// Name returns "pooling".
func (p *Kernel) Name() string { return "pooling" }

// MaskWords returns the length of the mask of Forward and Backward in words of 32 bits. There is a word for each output; a byte for each, if
// only the kernel reads the mask (Shape.Packed in main memory, or blocks of channels); or none.
func (p *Kernel) MaskWords() int {
	s := &p.shape
	switch n := s.N * s.C * s.OH * s.OW; {
	case !s.Masked():
		return 0
	case p.blocks != nil, p.planes != nil && p.planes.packed:
		return tiling.Blocks(n, 4)
	default:
		return n
	}
}

// Forward pools x into y. For maxima, and for stochastic pooling in training, mask gets for each output the index in its plane of the input
// that it took, -1 if none; a mask of bytes has a code instead. key seeds the draws of stochastic pooling.
func (p *Kernel) Forward(x, y []float32, mask []int32, key uint64) error {
	p.call = call{false, x, y, mask, key}
	return p.run()
}

// Backward computes the gradient dx of the inputs from that of the outputs, dy. dx is overwritten.
func (p *Kernel) Backward(dy []float32, mask []int32, dx []float32) error {
	p.call = call{true, dx, dy, mask, 0}
	return p.run()
}

func (p *Kernel) run() error {
	if p.blocks != nil {
		p.machine.TakeScratch(p.blocks.scratch())
	}
	return p.machine.Run(p, p.Groups())
}

// Groups returns the number of core groups for Machine.Run.
func (p *Kernel) Groups() int {
	s := &p.shape
	return p.machine.GroupsFor(s.N*s.C*s.H*s.W, tiling.HostTile)
}

// RunGroup computes a core group's share.
func (p *Kernel) RunGroup(g *cpe.CoreGroup) error {
	if p.backward {
		return p.grad.run(p, g)
	}
	return p.forward.run(p, g)
}

// runTiles deals a core group's share of the tiles to its CPEs.
func (p *Kernel) runTiles(g *cpe.CoreGroup) error {
	tiles := p.tiles()
	lo, hi := g.Share(p.shape.N * p.shape.C * tiles.count())
	cpes := g.CPEs()[:g.Deal(hi-lo)]
	for n := lo; n < hi; n++ {
		c, key := cpes[(n-lo)%len(cpes)], n%tiles.count()
		if !g.Charged(c, key) {
			var t poolTile
			p.begin(&t, n)
			if err := p.runTile(c, &t); err != nil {
				return err
			}
			g.Remember(c, key)
		}
		if (n-lo+1)%len(cpes) == 0 {
			p.turn(g)
		}
	}
	g.Sync()
	return nil
}

// grid is a plane of h x w that is cut into tiles.
type grid struct{ h, w, rows, cols int }

// tiles returns the grid of the results: outputs forward, inputs backward.
func (p *Kernel) tiles() grid {
	if p.backward {
		return grid{p.shape.H, p.shape.W, p.plan.BackwardRows, p.plan.BackCols}
	}
	return grid{p.shape.OH, p.shape.OW, p.plan.Rows, p.plan.Cols}
}

// count returns the number of tiles of a plane.
func (g grid) count() int { return tiling.Blocks(g.h, g.rows) * tiling.Blocks(g.w, g.cols) }

// nth returns the rows and columns of a tile.
func (g grid) nth(n int) (rows, cols tiling.Span) {
	strips := tiling.Blocks(g.w, g.cols)
	return tiling.Nth(n/strips, g.rows, g.h), tiling.Nth(n%strips, g.cols, g.w)
}

// turn ends the work of all CPEs on a tile each.
func (p *Kernel) turn(g *cpe.CoreGroup) {
	if g.Spec().Software.ScalarCycles > 0 {
		g.Sync()
		return
	}
	g.Overlap()
}
