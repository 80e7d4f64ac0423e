package kernel

import "github.com/swcaffe/swcaffe/cpe"

// Gemm multiplies matrices of one shape on all core groups.
type Gemm struct {
	shape   GemmShape
	machine *cpe.Machine
	splitM  bool
	groups  int
	blocks  []*product // a core group each
	job     productJob
}

// smallGemm is the number of flops below which waking other native cores costs more than it saves.
const smallGemm = 1 << 20

// NewGemm plans a product. Core groups share the longer of M and N, so that every element of C is summed by one
// core group in the order of K.
func NewGemm(m *cpe.Machine, s GemmShape) (*Gemm, error) {
	spec := m.Spec()
	g := &Gemm{shape: s, machine: m, splitM: s.M > s.N}
	if m.Native() && 2*s.M*s.N*s.K < smallGemm {
		g.groups = 1
	}
	for range spec.CoreGroups {
		p, err := newProduct(m, s)
		if err != nil {
			return nil, err
		}
		g.blocks = append(g.blocks, p)
	}
	return g, nil
}

// Name returns "gemm" and the shape.
func (g *Gemm) Name() string { return "gemm " + g.shape.String() }

// Plan returns the blocking.
func (g *Gemm) Plan() GemmPlan { return g.blocks[0].plan }

// Run multiplies. bias, if not nil, has N values that are added to every row of C; it excludes Accumulate.
func (g *Gemm) Run(a, b, bias, c []float32) error {
	s := &g.shape
	g.job = productJob{
		a: matrix{a, s.K, s.TransA}, b: matrix{b, s.N, s.TransB}, c: c, ldc: s.N,
		m: s.M, n: s.N, k: s.K, accumulate: s.Accumulate, bias: bias,
	}
	if s.TransA {
		g.job.a.ld = s.M
	}
	if s.TransB {
		g.job.b.ld = s.K
	}
	return g.machine.Run(g, g.groups)
}

// RunGroup computes a core group's rows or columns of C, cut at whole micro-tiles.
func (g *Gemm) RunGroup(cg *cpe.CoreGroup) error {
	const unit = 32
	job := g.job
	if g.splitM {
		lo, hi := cg.Share((job.m + unit - 1) / unit)
		job.rows(lo*unit, min(hi*unit, job.m))
	} else {
		lo, hi := cg.Share((job.n + unit - 1) / unit)
		job.columns(lo*unit, min(hi*unit, job.n))
	}
	return g.blocks[cg.Index()].run(cg, &job)
}

// matrix is a row-major operand; trans means that the product uses its transpose.
type matrix struct {
	data  []float32
	ld    int
	trans bool
}

// from returns the operand without its first r rows and c columns, as the product sees them.
func (m matrix) from(r, c int) matrix {
	if m.trans {
		r, c = c, r
	}
	if m.data != nil {
		m.data = m.data[min(len(m.data), r*m.ld+c):]
	}
	return m
}

// productJob is one product for one core group.
type productJob struct {
	a, b       matrix
	c          []float32
	ldc        int
	m, n, k    int
	accumulate bool
	bias       []float32 // added to every row of C, or with biasRows one value to each row
	biasRows   bool
}

// rows narrows the job to rows lo <= i < hi of C.
func (j *productJob) rows(lo, hi int) {
	hi = max(lo, hi)
	j.a = j.a.from(lo, 0)
	if j.c != nil {
		j.c = j.c[min(len(j.c), lo*j.ldc):]
	}
	if j.bias != nil && j.biasRows {
		j.bias = j.bias[lo:]
	}
	j.m = hi - lo
}

// columns narrows the job to columns lo <= i < hi of C.
func (j *productJob) columns(lo, hi int) {
	hi = max(lo, hi)
	j.b = j.b.from(0, lo)
	if j.c != nil {
		j.c = j.c[min(len(j.c), lo):]
	}
	if j.bias != nil && !j.biasRows {
		j.bias = j.bias[lo:]
	}
	j.n = hi - lo
}
