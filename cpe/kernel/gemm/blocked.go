package gemm

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
)

// Blocked multiplies matrices of one shape in blocks, on all core groups. each computes a core group's part of C.
type Blocked struct {
	shape     Shape
	machine   *cpe.Machine
	algorithm shape.Algorithm
	split     Split
	workers   []gemmWorker     // one for each core group
	partials  *stream.Partials // partial sums of MeshSums, else nil
	dynamic   *dynamic         // shares C if the algorithm is Dynamic, else nil
	each      func(*Blocked, *cpe.CoreGroup) error
	overwrite bool // overwrite C although the shape accumulates; see Sum
	operands
}

// gemmWorker is the state of one core group.
type gemmWorker struct {
	product *Nest
	job     Job
	a, b    Operand
	own     ownPanels
}

// NewBlocked plans a product with the algorithm of least cost among the forms of Blocked. Core groups share the rows or the columns of C, so
// that one core group sums each element of C in the order of K. MeshSums is the exception.
func NewBlocked(m *cpe.Machine, s Shape) (*Blocked, error) {
	k, err := plan(&blockedAlgorithms, m, problem(m, s, false))
	if err != nil {
		return nil, err
	}
	return k.(*Blocked), nil
}

// planBlocked plans a product; share is the product of which a core group's blocks are planned.
func planBlocked(m *cpe.Machine, s, share Shape, name shape.Algorithm) (*Blocked, error) {
	spec := m.Spec()
	plan, err := NewPlan(&spec, share)
	if err != nil {
		return nil, err
	}
	return newBlocked(m, s, share, plan, name), nil
}

// newBlocked gives every core group a nest for a plan.
func newBlocked(m *cpe.Machine, s, share Shape, plan Plan, name shape.Algorithm) *Blocked {
	spec := m.Spec()
	g := &Blocked{shape: s, machine: m, algorithm: name, workers: make([]gemmWorker, spec.CoreGroups), each: (*Blocked).multiply}
	for i, n := range NestsOf(m, share, plan) {
		g.workers[i].product = n
	}
	g.split = NewSplit(&spec, plan, s)
	return g
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
	if g.dynamic != nil {
		return g.dynamic.run()
	}
	g.partials.Open()
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

// RunGroup computes a core group's part of C.
func (g *Blocked) RunGroup(cg *cpe.CoreGroup) error { return g.each(g, cg) }

// multiply runs a core group's nest on its parts of C or, with MeshSums, on its part of K.
func (g *Blocked) multiply(cg *cpe.CoreGroup) error {
	w := g.worker(cg)
	if g.split.byDepth {
		w.job.C, w.job.Accumulate = cpe.Plain(g.partials.Of(cg.Index()), g.shape.N), false
	}
	return g.split.Share(cg, &w.job, func() error { return w.product.Run(cg, &w.job) })
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
