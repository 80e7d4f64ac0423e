package kernel

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/pages"
)

// Gemm multiplies matrices of one shape on all core groups.
type Gemm struct {
	shape         GemmShape
	machine       *cpe.Machine
	split         split
	skinny        bool
	workers       []gemmWorker // a core group each
	a, b, bias, c []float32
	partials      [][]float32 // of core groups that share the sums
	sum           *Copy
	pieces        *pieces // nil: core groups have equal parts
	unpacked      bool
	overwrite     bool // what the shape would add to; see Sum
	does          shape.Algorithm
}

// gemmWorker is what a core group needs to itself.
type gemmWorker struct {
	product *product
	job     productJob
	a, b    operand
	own     ownPanels
}

// NewGemm plans a product. Core groups share the rows or the columns of C, so that every element of C is summed by one
// core group in the order of K; only where each has its own images (Software.DataParallel) do they share the sums of weights'
// gradients.
func NewGemm(m *cpe.Machine, s GemmShape) (*Gemm, error) {
	if err := s.valid(); err != nil {
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
	plan, err := PlanGemm(&spec, share)
	if err != nil {
		return nil, err
	}
	streams := s.streams(&spec)
	if streams {
		plan = planStreamed(&spec, share)
	}
	g := newGemm(m, s, productsOf(m, share, plan))
	if g.skinny = s.skinny(&spec); g.skinny {
		g.does, g.split.groups = GemmSkinny, 0
		if s.M*s.N+s.N*s.K+s.M*s.K < tiling.HostTile {
			g.split.groups = 1
		}
	}
	switch {
	case sums:
		return g, g.shareSums()
	case g.skinny:
	case streams:
		g.does = GemmStreamed
	default:
		if g.pieces = newPieces(g); g.pieces != nil {
			g.does = GemmPieces
		}
	}
	return g, nil
}

func newGemm(m *cpe.Machine, s GemmShape, products []*product) *Gemm {
	spec := m.Spec()
	g := &Gemm{shape: s, machine: m, workers: make([]gemmWorker, spec.CoreGroups), does: GemmPacked}
	if !spec.Native() {
		g.does = GemmMesh
	}
	g.unpacked = s.unpacked(&spec)
	for i, p := range products {
		g.workers[i].product = p
		switch {
		case g.unpacked:
			g.does = GemmUnpacked
			g.workers[i].own = newOwnPanels(&s)
		case s.leftInPlace(&spec):
			g.does = GemmPackedRight
			p.edge = pages.Make[float32](p.plan.MR * p.plan.BK)
		}
	}
	g.split = newSplit(&spec, g.Plan(), s)
	return g
}

// shareSums has the core groups share the sums of a product that accumulates: each sums up a part, and then the parts are added.
func (g *Gemm) shareSums() (err error) {
	g.does = GemmMeshSums
	g.split = split{byDepth: true, unit: 1, groups: min(g.machine.Spec().CoreGroups, g.shape.K)}
	g.partials = make([][]float32, g.split.groups)
	n := g.shape.M * g.shape.N
	for i := range g.partials {
		if g.machine.Values() {
			g.partials[i] = pages.Make[float32](n)
		}
	}
	g.sum, err = NewCopy(g.machine, CopyShape{Outer: 1, Rows: 1, Cols: n, Add: true})
	return err
}

// Name returns "gemm" and the shape.
func (g *Gemm) Name() string { return g.workers[0].product.name }

// Algorithm returns how the product is computed.
func (g *Gemm) Algorithm() shape.Algorithm { return g.does }

// Plan returns the blocking.
func (g *Gemm) Plan() GemmPlan { return g.workers[0].product.plan }

// Run multiplies. bias, if not nil, has N values that are added to every row of C; it excludes Accumulate.
func (g *Gemm) Run(a, b, bias, c []float32) error {
	g.a, g.b, g.bias, g.c = a, b, bias, c
	if g.pieces != nil {
		return g.pieces.run()
	}
	if err := g.machine.Run(g, g.split.groups); err != nil {
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
func (g *Gemm) Sum(a, b, c []float32, add bool) error {
	g.overwrite = !add && g.machine.Native()
	if !add && !g.overwrite && g.machine.Values() {
		clear(c)
	}
	err := g.Run(a, b, nil, c)
	g.overwrite = false
	return err
}

// adds reports whether the product is added to what C holds.
func (g *Gemm) adds() bool { return g.shape.Accumulate && !g.overwrite && g.bias == nil }

// RunGroup computes a core group's rows or columns of C.
func (g *Gemm) RunGroup(cg *cpe.CoreGroup) error {
	if g.skinny {
		g.runSkinny(cg)
		return nil
	}
	s, w := &g.shape, g.worker(cg)
	if g.split.byDepth {
		w.job.c, w.job.accumulate = cpe.Plain(g.partials[cg.Index()], s.N), false
	}
	g.split.share(cg, &w.job)
	if !g.unpacked {
		return w.product.run(cg, &w.job)
	}
	if g.bias != nil {
		w.job.startRows()
		w.job.accumulate = true
	}
	w.multiplyUnpacked(s)
	return nil
}

// worker returns a core group's worker, whose job is the whole product.
func (g *Gemm) worker(cg *cpe.CoreGroup) *gemmWorker {
	s, w := &g.shape, &g.workers[cg.Index()]
	w.a.set(stored(g.a, s.M, s.K, s.TransA), s.TransA)
	w.b.set(stored(g.b, s.K, s.N, s.TransB), s.TransB)
	w.job = productJob{
		a: &w.a, b: &w.b, c: cpe.Plain(g.c, s.N), m1: s.M, n1: s.N, k1: s.K,
		accumulate: g.adds(), bias: g.bias,
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

// split says how core groups share a product: by rows or by columns of C, in whole panels, or the sums.
type split struct {
	byRows, byDepth bool
	unit            int
	groups          int // 0: all
}

// smallGemm is the number of flops below which giving another native core a part costs more than it saves.
const smallGemm = 1 << 19

// packingFlops is what the host pays for a value that is packed, in flops of the micro-kernel.
const packingFlops = 32

// newSplit shares rows or columns, whichever leaves the busiest core group less to do: panels to multiply and to pack. Where core
// groups share the images of every layer, rows are images. Where sums are so short that C's way to memory counts, the host
// shares rows even if one group has somewhat more of them: then no line of C is written by two.
func newSplit(spec *cpe.Spec, p GemmPlan, s GemmShape) split {
	row, col := split{byRows: true, unit: p.MR}, split{unit: p.NR}
	if spec.Software.DataParallel {
		row.unit = 1
		return row
	}
	if !spec.Native() {
		row.unit, col.unit = spec.Rows, 4*spec.Cols
	} else if 2*s.M*s.N*s.K < smallGemm {
		row.groups, col.groups = 1, 1
	}
	rows := tiling.Blocks(tiling.Blocks(s.M, row.unit), spec.CoreGroups) * row.unit
	cols := tiling.Blocks(tiling.Blocks(s.N, col.unit), spec.CoreGroups) * col.unit
	short := spec.Native() && s.K <= shortSums && 4*rows*s.N <= 5*s.M*cols
	if short || 2*rows*s.N+packingFlops*(rows+s.N) < 2*s.M*cols+packingFlops*(s.M+cols) {
		return row
	}
	return col
}

// share narrows a job to the part of a core group.
func (s *split) share(g *cpe.CoreGroup, job *productJob) {
	lo, hi := &job.n0, &job.n1
	switch {
	case s.byRows:
		lo, hi = &job.m0, &job.m1
	case s.byDepth:
		lo, hi = &job.k0, &job.k1
	}
	from, to := tiling.Share(g, *hi-*lo, s.unit)
	*lo, *hi = *lo+from, *lo+to
}
