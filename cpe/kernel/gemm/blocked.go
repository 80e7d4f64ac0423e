package gemm

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/pages"
)

// Blocked multiplies matrices of one shape in blocks, on all core groups.
type Blocked struct {
	shape     Shape
	machine   *cpe.Machine
	algorithm shape.Algorithm
	split     Split
	workers   []gemmWorker     // one for each core group
	partials  *stream.Partials // partial sums of MeshSums, else nil
	pieces    *pieces          // the pieces of Pieces, else nil
	overwrite bool             // overwrite C although the shape accumulates; see Sum
	operands
}

// gemmWorker is the state of one core group.
type gemmWorker struct {
	product *Nest
	job     Job
	a, b    Operand
	own     ownPanels
}

// NewBlocked plans a product with the first suitable algorithm among the forms of Blocked. Core groups share the rows or the columns of C, so
// that one core group sums each element of C in the order of K. There is one exception: if each core group trains on images of its own
// (Software.DataParallel), they share the sums of weight gradients.
func NewBlocked(m *cpe.Machine, s Shape) (*Blocked, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	spec := m.Spec()
	return planBlocked(m, s, choose(blockedAlgorithms, &s, &spec).name)
}

// planBlocked plans a product with a given algorithm.
func planBlocked(m *cpe.Machine, s Shape, name shape.Algorithm) (*Blocked, error) {
	spec, share := m.Spec(), s
	switch {
	case name == MeshSums:
		share.K, share.Accumulate = tiling.Blocks(s.K, spec.CoreGroups), false
	case spec.Software.DataParallel:
		share.M = tiling.Blocks(s.M, spec.CoreGroups)
	}
	plan, err := NewPlan(&spec, share)
	if err != nil {
		return nil, err
	}
	if name == Streamed {
		plan = planStreamed(&spec, share)
	}
	g := newBlocked(m, s, name, NestsOf(m, share, plan))
	switch name {
	case MeshSums:
		return g, g.shareSums()
	case Skinny:
		if g.split.Groups = 0; s.M*s.N+s.N*s.K+s.M*s.K < tiling.HostTile {
			g.split.Groups = 1
		}
	case Pieces:
		g.pieces = newPieces(g)
	}
	return g, nil
}

// newBlocked gives every core group its nest and its buffers for packing.
func newBlocked(m *cpe.Machine, s Shape, name shape.Algorithm, nests []*Nest) *Blocked {
	spec := m.Spec()
	g := &Blocked{shape: s, machine: m, algorithm: name, workers: make([]gemmWorker, spec.CoreGroups)}
	for i, n := range nests {
		g.workers[i].product = n
		switch {
		case name == Unpacked:
			g.workers[i].own = newOwnPanels(&s)
		case name == PackedRight, name == Pieces && s.leftInPlace(&spec):
			n.edge = pages.Make[float32](n.Plan.MR * n.Plan.BK)
		}
	}
	g.split = NewSplit(&spec, g.Plan(), s)
	return g
}

// sharesSums reports whether core groups share the sum over K: on a modelled machine whose core groups have images of their own, for weight
// gradients.
func (s *Shape) sharesSums(spec *cpe.Spec) bool {
	return spec.Software.DataParallel && s.TransA && s.Accumulate && s.K > 0
}

// shareSums prepares a product whose K the core groups share: each sums a part, and the parts are then added.
func (g *Blocked) shareSums() (err error) {
	g.split = Split{byDepth: true, unit: 1, Groups: min(g.machine.Spec().CoreGroups, g.shape.K)}
	g.partials, err = stream.NewPartials(g.machine, g.split.Groups, g.shape.M*g.shape.N)
	return err
}

// Name returns "gemm" and the shape.
func (g *Blocked) Name() string { return g.workers[0].product.name }

// Algorithm names the algorithm of the product.
func (g *Blocked) Algorithm() shape.Algorithm { return g.algorithm }

// Plan returns the blocking.
func (g *Blocked) Plan() Plan { return g.workers[0].product.Plan }

// Run computes C = op(A)*op(B). bias, if not nil, has N values that are added to every row of C; it excludes Accumulate.
func (g *Blocked) Run(a, b, bias, c []float32) error {
	g.operands = operands{a, b, bias, c}
	if g.pieces != nil {
		return g.pieces.run()
	}
	if err := g.machine.Run(g, g.split.Groups); err != nil {
		return err
	}
	return g.partials.AddTo(c)
}

// Scratch is 0: all buffers belong to the core groups.
func (g *Blocked) Scratch() int { return 0 }

// Sum is Run for a shape with Accumulate. With add it adds the product to C; without, it overwrites C, whose contents may be undefined. On a
// mesh it then clears C and adds, so that the modelled costs are the same.
func (g *Blocked) Sum(a, b, c []float32, add bool) error {
	g.overwrite = !add && g.algorithm != Mesh && g.algorithm != MeshSums
	if !add && !g.overwrite && g.machine.Values() {
		clear(c)
	}
	err := g.Run(a, b, nil, c)
	g.overwrite = false
	return err
}

// adds reports whether the product is added to C.
func (g *Blocked) adds() bool { return g.shape.Accumulate && !g.overwrite && g.bias == nil }

// RunGroup computes a core group's rows or columns of C.
func (g *Blocked) RunGroup(cg *cpe.CoreGroup) error {
	if g.algorithm == Skinny {
		g.runSkinny(cg)
		return nil
	}
	s, w := &g.shape, g.worker(cg)
	if g.split.byDepth {
		w.job.C, w.job.Accumulate = cpe.Plain(g.partials.Of(cg.Index()), s.N), false
	}
	g.split.Share(cg, &w.job)
	if g.algorithm != Unpacked {
		return w.product.Run(cg, &w.job)
	}
	if g.bias != nil {
		w.job.startRows()
		w.job.Accumulate = true
	}
	w.multiplyUnpacked(s)
	return nil
}

// worker returns a core group's worker; its job is the whole product.
func (g *Blocked) worker(cg *cpe.CoreGroup) *gemmWorker {
	s, w := &g.shape, &g.workers[cg.Index()]
	w.a.Set(stored(g.a, s.M, s.K, s.TransA), s.TransA)
	w.b.Set(stored(g.b, s.K, s.N, s.TransB), s.TransB)
	w.job = Job{
		A: &w.a, B: &w.b, C: cpe.Plain(g.c, s.N), M1: s.M, N1: s.N, K1: s.K,
		Accumulate: g.adds(), Bias: g.bias,
	}
	return w
}

// stored returns an operand of rows x cols as a matrix in its storage order.
func stored(data []float32, rows, cols int, trans bool) cpe.Matrix {
	if trans {
		return cpe.Plain(data, rows)
	}
	return cpe.Plain(data, cols)
}

// Split says how core groups share a product: rows or columns of C in whole panels, or the sum over K.
type Split struct {
	byRows, byDepth bool
	unit            int
	Groups          int // 0: all
}

// packingFlops is the cost of packing one value on the host, in flops of the micro-kernel.
const packingFlops = 32

// NewSplit chooses rows or columns, whichever leaves the busiest core group less multiplying and packing. If core groups share the images of
// every layer, it chooses rows, which are images. If K is less than Plan.Share.Short, it chooses rows even if some groups get more: no cache
// line of C is then written by two cores.
func NewSplit(spec *cpe.Spec, p Plan, s Shape) Split {
	if spec.Software.DataParallel {
		return Split{byRows: true, unit: 1}
	}
	row, col := Split{byRows: true, unit: p.Share.Rows}, Split{unit: p.Share.Cols}
	if 2*s.M*s.N*s.K < p.Share.Least {
		row.Groups, col.Groups = 1, 1
	}
	rows := tiling.Blocks(tiling.Blocks(s.M, row.unit), spec.CoreGroups) * row.unit
	cols := tiling.Blocks(tiling.Blocks(s.N, col.unit), spec.CoreGroups) * col.unit
	short := s.K < p.Share.Short && 4*rows*s.N <= 5*s.M*cols
	if short || 2*rows*s.N+packingFlops*(rows+s.N) < 2*s.M*cols+packingFlops*(s.M+cols) {
		return row
	}
	return col
}

// Share restricts a job to a core group's part.
func (s *Split) Share(g *cpe.CoreGroup, job *Job) {
	lo, hi := &job.N0, &job.N1
	switch {
	case s.byRows:
		lo, hi = &job.M0, &job.M1
	case s.byDepth:
		lo, hi = &job.K0, &job.K1
	}
	from, to := tiling.Share(g, *hi-*lo, s.unit)
	*lo, *hi = *lo+from, *lo+to
}
