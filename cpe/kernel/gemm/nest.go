package gemm

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/internal/base/simd/vgemm"
)

// Nest executes a Plan on one core group, with the same loops on every machine. When the loops move to another block of A or B, the block is
// packed into a tile in panels; for another block of C, a tile is placed. Blocks are multiplied in steps. In step t the owners of part t of A
// broadcast it along their mesh rows, those of part t of B along their columns, and every CPE adds A(i,t)*B(t,j) to its part of C (swCaffe,
// section IV-A). On a mesh of one CPE there is one step and no broadcast.
type Nest struct {
	Plan Plan
	name string
	tiles
	job   *Job
	held  [3][2]int // indices of the current blocks of A (i,k), B (k,j) and C (i,j)
	spill []float32 // buffer for a micro-tile of C whose columns are not contiguous
	left  []float32 // the packed block of A, if other core groups share it

	group  *cpe.CoreGroup
	counts [3]int // number of blocks of M, N and K
	at     [3]int
	bodies [3]func(i int) error // bodies of the loops, outermost first
}

// Job is one product for one core group: rows [M0,M1) and columns [N0,N1) of C, summed over [K0,K1).
type Job struct {
	A, B       cpe.View
	C          cpe.Matrix
	M0, M1     int
	N0, N1     int
	K0, K1     int
	Accumulate bool
	Bias       []float32 // added to every row of C or, with BiasRows, one value to all of each row
	BiasRows   bool
}

// NewNests plans a product, reserves its storage, and returns a nest for each core group.
func NewNests(m *cpe.Machine, s Shape) ([]*Nest, error) {
	plan, err := m.Recall(planKey(s), func() (any, error) {
		spec := m.Spec()
		return NewPlan(&spec, s)
	})
	if err != nil {
		return nil, err
	}
	return NestsOf(m, s, plan.(Plan)), nil
}

// planKey identifies the plan of a product among what a machine remembers: equal layers have equal products.
type planKey Shape

// NestsOf returns a nest for each core group, for a given plan.
func NestsOf(m *cpe.Machine, s Shape, plan Plan) []*Nest {
	spec := m.Spec()
	all := make([]*Nest, spec.CoreGroups)
	for i := range all {
		all[i] = &Nest{Plan: plan, name: "gemm " + s.String(), tiles: newTiles(&spec, plan), spill: pages.Make[float32](plan.MR * plan.NR)}
		all[i].nest()
	}
	_, stored := cpe.Need(&spec, all[0].extents(plan)...)
	m.Reserve(stored)
	return all
}

var nothing = [2]int{-1, -1}

// Run computes one job. Its extents may differ from those of the plan; blocks keep their sizes.
func (p *Nest) Run(g *cpe.CoreGroup, job *Job) error {
	err := p.Start(g, job)
	g.Sync()
	return err
}

// Start is Run, but with a chained plan the last block of C may still be on its way: a job that follows overlaps with it.
func (p *Nest) Start(g *cpe.CoreGroup, job *Job) error {
	if job.M0 >= job.M1 || job.N0 >= job.N1 {
		return nil
	}
	p.job = job
	p.held = [3][2]int{nothing, nothing, nothing}
	if err := p.open(g); err != nil {
		return err
	}
	p.counts = [3]int{tiling.Blocks(job.M1-job.M0, p.Plan.BM), tiling.Blocks(job.N1-job.N0, p.Plan.BN), max(1, tiling.Blocks(job.K1-job.K0, p.Plan.BK))}
	p.group = g
	if err := p.loop(0); err != nil {
		return err
	}
	p.finish(g)
	return nil
}

// loop runs the blocks of one extent, level by level. The first and the last block are run separately, because the first may overwrite sums
// and the last may be shorter.
func (p *Nest) loop(level int) error {
	n := p.counts[p.Plan.Order[level]]
	if err := p.bodies[level](0); err != nil {
		return err
	}
	if err := p.group.Steady(1, n-1, p.bodies[level]); err != nil || n == 1 {
		return err
	}
	return p.bodies[level](n - 1)
}

// nest makes the closures of the loops, once, so that running allocates nothing.
func (p *Nest) nest() {
	for level := range p.bodies {
		p.bodies[level] = func(i int) error {
			p.at[p.Plan.Order[level]] = i
			if level < 2 {
				return p.loop(level + 1)
			}
			return p.visit(p.group, p.at[loopM], p.at[loopN], p.at[loopK])
		}
	}
}

// open allocates LDM for the tiles.
func (p *Nest) open(g *cpe.CoreGroup) error {
	g.Free()
	g.Deal(len(g.CPEs()))
	if err := p.take(g); err != nil {
		return err
	}
	return g.TakePlaced(p.name, &p.c, p.Plan.BM, p.Plan.BN)
}

// take allocates LDM for the operands' tiles.
func (p *Nest) take(g *cpe.CoreGroup) error {
	if err := g.Take(p.name, &p.a, p.Plan.BM, p.Plan.BK); err != nil {
		return err
	}
	return g.Take(p.name, &p.b, p.Plan.BK, p.Plan.BN)
}

// extent returns the start and length of block i of the range [lo, hi).
func extent(i, size, lo, hi int) (at, length int) {
	at = lo + i*size
	return at, min(size, hi-at)
}

// visit multiplies block (i,k) of A with block (k,j) of B into block (i,j) of C.
func (p *Nest) visit(g *cpe.CoreGroup, i, j, k int) error {
	job := p.job
	i0, m := extent(i, p.Plan.BM, job.M0, job.M1)
	j0, n := extent(j, p.Plan.BN, job.N0, job.N1)
	k0, kk := extent(k, p.Plan.BK, job.K0, job.K1)
	kk = max(0, kk)
	if c := [2]int{i, j}; p.held[2] != c {
		p.finish(g)
		p.held[2] = c
		g.Place(&p.c, job.C, i0, j0, m, n, job.Accumulate)
		if k == 0 {
			p.start(g, i0, j0)
		}
	}
	if b := [2]int{k, j}; p.held[1] != b {
		p.held[1] = b
		g.Get(&p.b, job.B, k0, j0, kk, n)
	}
	if a := [2]int{i, k}; p.held[0] != a {
		p.held[0] = a
		if p.left == nil {
			g.Get(&p.a, job.A, i0, k0, m, kk)
		}
	}
	if err := p.multiply(g, &p.c, k > 0 || job.Accumulate || job.Bias != nil); err != nil {
		return err
	}
	if p.Plan.Double {
		g.Overlap()
	} else {
		g.Sync()
	}
	return nil
}

// start initialises a block of C with its bias or zeros, unless the first product overwrites it.
func (p *Nest) start(g *cpe.CoreGroup, row, col int) {
	job := p.job
	if !g.Values() || job.Bias == nil && (job.Accumulate || job.K1 > job.K0) {
		return
	}
	rows, cols := p.c.Whole()
	target, r0, c0 := g.Target(&p.c)
	for r := range rows {
		for c := 0; c < cols; {
			at, run := target.Place(r0+r, c0+c)
			line := target.Data[at:][:min(run, cols-c)]
			switch {
			case job.Bias == nil:
				clear(line)
			case job.BiasRows:
				vec.Fill(line, job.Bias[row+r])
			default:
				copy(line, job.Bias[col+c:])
			}
			c += len(line)
		}
	}
}

// finish stores the current block of C.
func (p *Nest) finish(g *cpe.CoreGroup) {
	switch {
	case p.held[2] == nothing:
	case p.Plan.Chained:
		g.PutLater(&p.c)
	default:
		g.Put(&p.c)
		g.Sync()
	}
}

// multiply adds the product of the current blocks to a tile of C, step by step: in step t the owners of parts t of A and B broadcast them,
// and every CPE multiplies the parts that it received. The values of all steps are computed in one go.
func (p *Nest) multiply(g *cpe.CoreGroup, tile *cpe.Tile, accumulate bool) error {
	m, n := tile.Extent()
	rows, cols := tile.Whole()
	depth := 0
	for t := range p.Plan.Steps {
		d := p.b.Part(t, 0).Rows
		if d == 0 {
			break
		}
		if err := g.Exchange(p.name, &p.a, &p.b, t); err != nil {
			return err
		}
		g.Multiply(m, n, d, t == 0, tile.Product, 2*float64(rows*cols*d))
		depth += d
	}
	if g.Values() && depth > 0 {
		p.micro(g, tile, depth, accumulate)
	}
	return nil
}

// micro runs the micro-kernel over a tile of C. A panel of A stays in L1 while the panels of B pass.
func (p *Nest) micro(g *cpe.CoreGroup, tile *cpe.Tile, depth int, accumulate bool) {
	target, r0, c0 := g.Target(tile)
	rows, cols := tile.Whole()
	a, b := p.a.Values(), p.b.Values()
	if p.left != nil {
		a = p.left
	}
	mr, nr := p.Plan.MR, p.Plan.NR
	for r := 0; r < rows; r += mr {
		left, m := a[r*depth:(r+mr)*depth], min(mr, rows-r)
		for c := 0; c < cols; c += nr {
			panel, n := b[c*depth:(c+nr)*depth], min(nr, cols-c)
			at, run := target.Place(r0+r, c0+c)
			switch {
			case run < n:
				if accumulate {
					p.move(&target, r0+r, c0+c, m, n, false)
				}
				vgemm.MicroKernel(depth, left, panel, p.spill, nr, accumulate)
				p.move(&target, r0+r, c0+c, m, n, true)
			case m == mr && n == nr:
				vgemm.MicroKernel(depth, left, panel, target.Data[at:], target.Ld, accumulate)
			case !g.HasMargin(tile):
				vgemm.MicroKernelEdge(depth, left, panel, target.Data[at:], target.Ld, m, n, accumulate)
			default:
				vgemm.MicroKernelEdge(depth, left, panel, target.Data[at:], target.Ld, tiling.Even(m, mr, mr/3), nr, accumulate)
			}
		}
	}
}

// move copies a micro-tile whose columns are not contiguous from C to the spill buffer, or back.
func (p *Nest) move(target *cpe.Matrix, row, col, m, n int, back bool) {
	for c := 0; c < n; {
		at, run := target.Place(row, col+c)
		run = min(run, n-c)
		far, near := target.Data[at:], p.spill[c:]
		if back {
			vec.CopyRows(far, target.Ld, near, p.Plan.NR, m, run)
		} else {
			vec.CopyRows(near, p.Plan.NR, far, target.Ld, m, run)
		}
		c += run
	}
}
