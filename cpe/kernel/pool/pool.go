package pool

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/simd/vpool"
)

// Kernel executes a Shape.
type Kernel struct {
	shape    Shape
	plan     Plan
	machine  *cpe.Machine
	backward bool

	x, y []float32
	mask []int32
	key  uint64

	global  bool          // on the host, means of whole planes
	planes  *vpool.Planes // on the host, windows that have kernels of their own
	shares  []float32     // room of each core group for the gradients of a plane's means
	packed  bool          // the mask has bytes that say which places of windows were taken
	indices []int32       // room of each core group for a plane's unpacked mask

	columns  []poolColumns // on the host, of each core group, for other windows
	divisors []float32     // the sizes of windows there, if means are wanted

	blocks *blockPool // if inputs or outputs lie in blocks
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
	if p.blocks, err = p.newBlockPool(); err != nil {
		return nil, err
	}
	if p.blocks == nil {
		p.preparePlanes()
	}
	return p, nil
}

// Name returns "pooling".
func (p *Kernel) Name() string { return "pooling" }

// MaskWords returns how long the mask of Forward and Backward is: an index for each output, or, packed on the host or with blocks, a
// byte.
func (p *Kernel) MaskWords() int {
	s := &p.shape
	switch n := s.N * s.C * s.OH * s.OW; {
	case !s.Masked():
		return 0
	case p.packed || p.blocks != nil:
		return tiling.Blocks(n, 4)
	default:
		return n
	}
}

// Forward pools x into y. mask, not used by Ave, gets the index in its plane of the value each output took (max, and
// stochastic in training), -1 where it took none, unless it is packed or there are blocks; key seeds the draws.
func (p *Kernel) Forward(x, y []float32, mask []int32, key uint64) error {
	p.backward, p.x, p.y, p.mask, p.key = false, x, y, mask, key
	return p.run()
}

// Backward spreads the outputs' gradients dy over the inputs' dx, which is overwritten.
func (p *Kernel) Backward(dy []float32, mask []int32, dx []float32) error {
	p.backward, p.x, p.y, p.mask = true, dx, dy, mask
	return p.run()
}

func (p *Kernel) run() error {
	if p.blocks != nil {
		p.machine.TakeScratch(p.blocks.scratch())
	}
	return p.machine.Run(p, p.Groups())
}

func (p *Kernel) Groups() int {
	if s := &p.shape; p.machine.Native() && s.N*s.C*s.H*s.W < tiling.HostTile {
		return 1
	}
	return 0
}

// RunGroup does a core group's share.
func (p *Kernel) RunGroup(g *cpe.CoreGroup) error {
	d := shape.Forward
	if p.backward {
		d = shape.InputGradient
	}
	return p.choose(d).run(p, g)
}

// runTiles deals a core group's share of the tiles to its CPEs.
func (p *Kernel) runTiles(g *cpe.CoreGroup) error {
	s := &p.shape
	h, w, rows, cols := s.OH, s.OW, p.plan.Rows, p.plan.Cols
	if p.backward {
		h, w, rows, cols = s.H, s.W, p.plan.BackwardRows, p.plan.BackCols
	}
	if h == 0 || w == 0 {
		return nil
	}
	bands, strips := tiling.Blocks(h, rows), tiling.Blocks(w, cols)
	lo, hi := g.Share(s.N * s.C * bands * strips)
	cpes := g.CPEs()[:g.Deal(hi-lo)]
	for n := lo; n < hi; n++ {
		c, key := cpes[(n-lo)%len(cpes)], n%(strips*bands)
		if !g.Charged(c, key) {
			t := poolTile{plane: n / strips / bands}
			down, across := tiling.Nth(n/strips%bands, rows, h), tiling.Nth(n%strips, cols, w)
			if err := p.runTile(c, &t, down, across); err != nil {
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

// turn ends the work on a tile of each CPE.
func (p *Kernel) turn(g *cpe.CoreGroup) {
	if g.Spec().Software.ScalarCycles > 0 {
		g.Sync()
		return
	}
	g.Overlap()
}
