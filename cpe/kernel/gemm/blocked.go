package gemm

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/pages"
)

// Blocked multiplies matrices of one shape on all core groups.
type Blocked struct {
	shape         Shape
	machine       *cpe.Machine
	split         Split
	skinny        bool
	workers       []gemmWorker // a core group each
	a, b, bias, c []float32
	partials      [][]float32 // of core groups that share the sums
	sum           *stream.Copy
	pieces        *pieces // nil: core groups have equal parts
	unpacked      bool
	overwrite     bool // what the shape would add to; see Sum
	does          shape.Algorithm
}

// gemmWorker is what a core group needs to itself.
type gemmWorker struct {
	product *Nest
	job     Job
	a, b    Operand
	own     ownPanels
}

// NewBlocked plans a product. Core groups share the rows or the columns of C, so that every element of C is summed by one
// core group in the order of K; only where each has its own images (Software.DataParallel) do they share the sums of weights'
// gradients.
func NewBlocked(m *cpe.Machine, s Shape) (*Blocked, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	spec, share := m.Spec(), s
	sums := spec.Software.DataParallel && s.TransA && s.Accumulate && s.K > 0
	switch {
	case sums:
		share.K, share.Accumulate = tiling.Blocks(s.K, spec.CoreGroups), false
	case spec.Software.DataParallel:
		share.M = tiling.Blocks(s.M, spec.CoreGroups)
	}
	plan, err := NewPlan(&spec, share)
	if err != nil {
		return nil, err
	}
	streams := s.streams(&spec)
	if streams {
		plan = planStreamed(&spec, share)
	}
	g := newBlocked(m, s, NestsOf(m, share, plan))
	if g.skinny = s.skinny(&spec); g.skinny {
		g.does, g.split.Groups = Skinny, 0
		if s.M*s.N+s.N*s.K+s.M*s.K < tiling.HostTile {
			g.split.Groups = 1
		}
	}
	switch {
	case sums:
		return g, g.shareSums()
	case g.skinny:
	case streams:
		g.does = Streamed
	default:
		if g.pieces = newPieces(g); g.pieces != nil {
			g.does = Pieces
		}
	}
	return g, nil
}

func newBlocked(m *cpe.Machine, s Shape, products []*Nest) *Blocked {
	spec := m.Spec()
	g := &Blocked{shape: s, machine: m, workers: make([]gemmWorker, spec.CoreGroups), does: Packed}
	if !spec.Native() {
		g.does = Mesh
	}
	g.unpacked = s.unpacked(&spec)
	for i, p := range products {
		g.workers[i].product = p
		switch {
		case g.unpacked:
			g.does = Unpacked
			g.workers[i].own = newOwnPanels(&s)
		case s.leftInPlace(&spec):
			g.does = PackedRight
			p.edge = pages.Make[float32](p.Plan.MR * p.Plan.BK)
		}
	}
	g.split = NewSplit(&spec, g.Plan(), s)
	return g
}

// shareSums has the core groups share the sums of a product that accumulates: each sums up a part, and then the parts are added.
func (g *Blocked) shareSums() (err error) {
	g.does = MeshSums
	g.split = Split{byDepth: true, unit: 1, Groups: min(g.machine.Spec().CoreGroups, g.shape.K)}
	g.partials = make([][]float32, g.split.Groups)
	n := g.shape.M * g.shape.N
	for i := range g.partials {
		if g.machine.Values() {
			g.partials[i] = pages.Make[float32](n)
		}
	}
	g.sum, err = stream.NewCopy(g.machine, stream.CopyShape{Outer: 1, Rows: 1, Cols: n, Add: true})
	return err
}

// Name returns "gemm" and the shape.
func (g *Blocked) Name() string { return g.workers[0].product.name }

// Algorithm returns how the product is computed.
func (g *Blocked) Algorithm() shape.Algorithm { return g.does }

// Plan returns the blocking.
func (g *Blocked) Plan() Plan { return g.workers[0].product.Plan }

// Run multiplies. bias, if not nil, has N values that are added to every row of C; it excludes Accumulate.
func (g *Blocked) Run(a, b, bias, c []float32) error {
	g.a, g.b, g.bias, g.c = a, b, bias, c
	if g.pieces != nil {
		return g.pieces.run()
	}
	if err := g.machine.Run(g, g.split.Groups); err != nil {
		return err
	}
	for _, p := range g.partials {
		if err := g.sum.Run(c, p); err != nil {
			return err
		}
	}
	return nil
}

// Sum adds a product to the sum in C, for a shape that accumulates, or, unless add, begins one: then C may hold anything. The host
// overwrites it. A modelled machine's program clears it and adds, so that both take what adding takes.
func (g *Blocked) Sum(a, b, c []float32, add bool) error {
	g.overwrite = !add && g.machine.Native()
	if !add && !g.overwrite && g.machine.Values() {
		clear(c)
	}
	err := g.Run(a, b, nil, c)
	g.overwrite = false
	return err
}

// adds reports whether the product is added to what C holds.
func (g *Blocked) adds() bool { return g.shape.Accumulate && !g.overwrite && g.bias == nil }

// RunGroup computes a core group's rows or columns of C.
func (g *Blocked) RunGroup(cg *cpe.CoreGroup) error {
	if g.skinny {
		g.runSkinny(cg)
		return nil
	}
	s, w := &g.shape, g.worker(cg)
	if g.split.byDepth {
		w.job.C, w.job.Accumulate = cpe.Plain(g.partials[cg.Index()], s.N), false
	}
	g.split.Share(cg, &w.job)
	if !g.unpacked {
		return w.product.Run(cg, &w.job)
	}
	if g.bias != nil {
		w.job.startRows()
		w.job.Accumulate = true
	}
	w.multiplyUnpacked(s)
	return nil
}

// worker returns a core group's worker, whose job is the whole product.
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

// stored is an operand of rows x cols as it lies in memory.
func stored(data []float32, rows, cols int, trans bool) cpe.Matrix {
	if trans {
		return cpe.Plain(data, rows)
	}
	return cpe.Plain(data, cols)
}

// Split says how core groups share a product: by rows or by columns of C, in whole panels, or the sums.
type Split struct {
	byRows, byDepth bool
	unit            int
	Groups          int // 0: all
}

// smallGemm is the number of flops below which giving another native core a part costs more than it saves.
const smallGemm = 1 << 19

// packingFlops is what the host pays for a value that is packed, in flops of the micro-kernel.
const packingFlops = 32

// NewSplit shares rows or columns, whichever leaves the busiest core group less to do: panels to multiply and to pack. Where core
// groups share the images of every layer, rows are images. Where sums are so short that C's way to memory counts, the host
// shares rows even if one group has somewhat more of them: then no line of C is written by two.
func NewSplit(spec *cpe.Spec, p Plan, s Shape) Split {
	row, col := Split{byRows: true, unit: p.MR}, Split{unit: p.NR}
	if spec.Software.DataParallel {
		row.unit = 1
		return row
	}
	if !spec.Native() {
		row.unit, col.unit = spec.Rows, 4*spec.Cols
	} else if 2*s.M*s.N*s.K < smallGemm {
		row.Groups, col.Groups = 1, 1
	}
	rows := tiling.Blocks(tiling.Blocks(s.M, row.unit), spec.CoreGroups) * row.unit
	cols := tiling.Blocks(tiling.Blocks(s.N, col.unit), spec.CoreGroups) * col.unit
	short := spec.Native() && s.K <= shortSums && 4*rows*s.N <= 5*s.M*cols
	if short || 2*rows*s.N+packingFlops*(rows+s.N) < 2*s.M*cols+packingFlops*(s.M+cols) {
		return row
	}
	return col
}

// Share narrows a job to the part of a core group.
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
