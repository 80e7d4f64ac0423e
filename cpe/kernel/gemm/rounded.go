package gemm

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/factors"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vconv"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// Fixer is implemented by kernels that keep what they make of a B that does not change, as weights do not in a net for inference.
type Fixer interface {
	op.Keeper
	// Fix says which weights B of the next Run is; nil: it may be any.
	Fix(b *op.Weights)
}

// rounded multiplies a few or many rows of A with weights, both in another number type (factors.Packing). It is a convolution of images of one pixel: the
// rows of A are packed as pixels, all of B as panels of columns. Core groups claim panels.
type rounded struct {
	machine *cpe.Machine
	shape   Shape
	name    shape.Algorithm
	packing factors.Packing
	depth   int // blocks of K of one pass
	fixed   *op.Weights
	read    op.Parts // of B, while it is packed from parts
	op.Kept
	operands

	packsLeft  roundLeft
	packsRight roundRight
}

const (
	roundedPanel = factors.Panel // columns of a panel
	// roundedRows is the number of rows of A that read a panel once, so that they need no passes over K; more rows read the part of a panel that a pass
	// of roundedDepth blocks keeps in L1.
	roundedRows, roundedDepth = 14, 16
	lanes                     = shape.BlockLanes
)

// rounds reports whether Rounded computes a product.
func (s *Shape) rounds(*cpe.Spec) bool {
	return !s.TransA && !s.Accumulate && s.M > 0 && s.N > 0 && s.K > 0
}

// notRounded declines products whose factors may be rounded: who permits it gets it.
func notRounded(p *Problem) error {
	return op.Unless(p.Types != op.RoundedFactors || !p.Inference || !p.Shape.rounds(p.Spec), "its factors may be rounded")
}

func newRounded(m *cpe.Machine, s Shape, name shape.Algorithm, packing factors.Packing) (Kernel, error) {
	r := &rounded{machine: m, shape: s, name: name, packing: packing}
	r.depth = r.blocks()
	if s.M > roundedRows {
		r.depth = tiling.Even(r.blocks(), roundedDepth, 1)
	}
	r.Kept = op.Kept{Layout: fmt.Sprint("gemm ", s.K, s.N, s.TransB, packing.Layout()), Size: r.right(), Rounds: true}
	if packing.Restores() {
		r.Restore = (&rounded{shape: s, packing: packing}).restore
	}
	r.packsLeft, r.packsRight = roundLeft{r}, roundRight{r}
	return r, nil
}

// plan describes the blocking.
func (r *rounded) plan() string {
	return fmt.Sprintf("%d panels of %d columns, passes of %d of %d blocks of %d of K", r.panels(), roundedPanel, r.depth, r.blocks(), r.packing.Block())
}

// blocks and panels are the numbers of blocks of K and of panels of columns.
func (r *rounded) blocks() int { return tiling.Blocks(r.shape.K, r.packing.Block()) }
func (r *rounded) panels() int { return tiling.Blocks(r.shape.N, roundedPanel) }

// jump is the distance of blocks of packed A, rows where the rows of a block of K of a packed panel begin.
func (r *rounded) jump() int { return r.packing.Places(r.packing.Block() * r.shape.M) }
func (r *rounded) rows(p, k int) int {
	return p*r.packing.Size(r.blocks()) + r.packing.Head() + r.packing.Rows(k)
}

// right is the size of packed B; group that of a core group's memory: for a block of K of all rows.
func (r *rounded) right() int { return r.panels() * r.packing.Size(r.blocks()) }
func (r *rounded) group() int { return max(2*lanes, r.packing.Block()) * r.shape.M }

// reserved is the scratch memory of a run. Packed A and B are in memory that core groups share.
func (r *rounded) reserved() cpe.Scratch {
	n := cpe.Scratch{Common: r.blocks() * r.jump(), Group: r.group()}
	if r.fixed == nil {
		n.Common += r.right()
	}
	return n
}

// Scratch implements Kernel.
func (r *rounded) Scratch() int { return r.machine.Needs(r.reserved()) }

// Algorithm returns Rounded or Quantised.
func (r *rounded) Algorithm() shape.Algorithm { return r.name }

// Fix implements Fixer.
func (r *rounded) Fix(fixed *op.Weights) { r.fixed = fixed }

// Run computes the product; see Kernel.
func (r *rounded) Run(a, b, bias, c []float32) error {
	r.operands = operands{a, b, bias, c}
	r.machine.TakeScratch(r.reserved())
	if err := r.Pack(r.fixed, func() error { return r.machine.Run(&r.packsRight, 0) }); err != nil {
		return err
	}
	if err := r.machine.Run(&r.packsLeft, 0); err != nil {
		return err
	}
	return r.machine.Run(r, 0)
}

// PackParts implements op.PartKeeper: the rows of B' of a panel are a part. Rows of B have no parts.
func (r *rounded) PackParts(of *op.Weights, read op.Parts) error {
	if !r.shape.TransB {
		return nil
	}
	r.fixed, r.read = of, read
	defer func() { r.read = nil }()
	r.machine.TakeScratch(r.reserved())
	return r.Pack(of, func() error { return r.machine.Run(&r.packsRight, 0) })
}

// packed returns packed A and packed B.
func (r *rounded) packed(g *cpe.CoreGroup) (left, right []float32) {
	size := r.blocks() * r.jump()
	if r.fixed != nil {
		return g.Common(size), r.Memory(g, r.fixed, r.right())
	}
	all := g.Common(size + r.right())
	return all[:size], all[size:]
}

// roundLeft is the stage that packs A: for each block of K, the channels of the rows one behind another.
type roundLeft struct{ *rounded }

// Name names the stage.
func (r *roundLeft) Name() string { return r.rounded.Name() + ", packing A" }

// RunGroup packs a core group's share of the blocks.
func (r *roundLeft) RunGroup(g *cpe.CoreGroup) error {
	left, _ := r.packed(g)
	near, m, k := g.Memory(r.group()), r.shape.M, r.shape.K
	lo, hi := g.Share(r.blocks())
	for block := lo; block < hi; block++ {
		first := block * r.packing.Block()
		if first+r.packing.Block() > k {
			clear(near)
		}
		for at := first; at < min(first+r.packing.Block(), k); at += lanes {
			vec.CopyRows(near[(at-first)*m:], lanes, r.a[at:], k, m, min(lanes, k-at))
		}
		r.packing.Pixels(left[block*r.jump():], near, lanes*m, r.packing.Block()/lanes, m)
	}
	return nil
}

// roundRight is the stage that packs B.
type roundRight struct{ *rounded }

// Name names the stage.
func (r *roundRight) Name() string { return r.rounded.Name() + ", packing B" }

// RunGroup packs a core group's share of the panels.
func (r *roundRight) RunGroup(g *cpe.CoreGroup) error {
	_, right := r.packed(g)
	lo, hi := g.Share(r.panels())
	var rows [vconv.ByteBlock * factors.Panel]float32
	var part []float32
	if r.read != nil && lo < hi {
		part = make([]float32, factors.Panel*r.shape.K)
	}
	for p := lo; p < hi; p++ {
		first := p * factors.Panel
		n := min(factors.Panel, r.shape.N-first)
		b := part
		if part == nil {
			b = r.b[r.panelOfB(p):]
		} else if err := r.read(part[:n*r.shape.K], first*r.shape.K); err != nil {
			return err
		}
		steps := r.packing.StepsOf(first, n, func(o int) []float32 { return r.column(b, o-first) })
		head := right[r.rows(p, 0)-r.packing.Head():]
		if steps != nil {
			r.packing.Begin(head, steps)
		}
		for block := range r.blocks() {
			r.turn(b, rows[:], p, block, false)
			r.packing.Round(rows[:], steps)
			if steps != nil {
				r.packing.AddToHead(head, rows[:], r.packing.Block())
			}
			r.packing.Panel(right[r.rows(p, block):], rows[:], r.packing.Block())
		}
	}
	return nil
}

// panelOfB is where the first of a panel's columns of B begins.
func (r *rounded) panelOfB(p int) int {
	if r.shape.TransB {
		return p * roundedPanel * r.shape.K
	}
	return p * roundedPanel
}

// column returns column o of B from a panel's first column on, which is at b: a row of B', or a copy.
func (r *rounded) column(b []float32, o int) []float32 {
	k := r.shape.K
	if r.shape.TransB {
		return b[o*k : (o+1)*k]
	}
	list := make([]float32, k)
	vec.CopyRows(list, 1, b[o:], r.shape.N, k, 1)
	return list
}

// turn copies a block of K of a panel from B, whose first column of the panel is at b, to rows of the panel, with zeros behind K and N, or back.
func (r *rounded) turn(b, rows []float32, p, block int, back bool) {
	row, col := block*r.packing.Block(), p*roundedPanel
	k, n := min(r.packing.Block(), r.shape.K-row), min(roundedPanel, r.shape.N-col)
	if !back && (k < r.packing.Block() || n < roundedPanel) {
		clear(rows)
	}
	switch {
	case r.shape.TransB && back:
		vec.Transpose(b[row:], rows, r.shape.K, roundedPanel, k, n)
	case r.shape.TransB:
		vec.Transpose(rows, b[row:], roundedPanel, r.shape.K, n, k)
	case back:
		vec.CopyRows(b[row*r.shape.N:], r.shape.N, rows, roundedPanel, k, n)
	default:
		vec.CopyRows(rows, roundedPanel, b[row*r.shape.N:], r.shape.N, k, n)
	}
}

// restore writes the rounded weights of packed B.
func (r *rounded) restore(w, packed []float32) {
	rows := make([]float32, r.packing.Block()*roundedPanel)
	for p := range r.panels() {
		for block := range r.blocks() {
			r.packing.Unpack(rows, packed[r.rows(p, block):], 1)
			r.turn(w[r.panelOfB(p):], rows, p, block, true)
		}
	}
}

// Name names the product.
func (r *rounded) Name() string { return "rounded gemm " + r.shape.String() }

// RunGroup computes the panels of columns that a core group claims.
func (r *rounded) RunGroup(g *cpe.CoreGroup) error {
	left, right := r.packed(g)
	sums, m := g.Memory(r.group()), r.shape.M
	var start [roundedPanel]float32
	for p, end := g.Claim(r.panels(), 1); p < end; p, end = g.Claim(r.panels(), 1) {
		n := min(roundedPanel, r.shape.N-p*roundedPanel)
		vectors := tiling.Blocks(n, lanes)
		clear(start[:])
		if r.bias != nil {
			copy(start[:n], r.bias[p*roundedPanel:])
		}
		tile := vconv.Tile{JumpA: r.jump(), Head: right[r.rows(p, 0)-r.packing.Head():], Bias: start[:], C: sums, JumpC: lanes * m, Rows: m, N: vectors}
		for k := 0; k < r.blocks(); k += r.depth {
			tile.Blocks = min(r.depth, r.blocks()-k)
			tile.A, tile.B, tile.First, tile.Last = left[k*r.jump():], right[r.rows(p, k):], k == 0, k+tile.Blocks == r.blocks()
			r.packing.Multiply(&tile)
		}
		for v := range vectors {
			vec.CopyRows(r.c[p*roundedPanel+v*lanes:], r.shape.N, sums[v*lanes*m:], lanes, m, min(lanes, n-v*lanes))
		}
	}
	return nil
}
