package gemm

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/internal/base/simd/vgemm"
)

// dynamicFlops, dynamicPanels and dynamicDepth delimit the products with dynamic scheduling: at least dynamicFlops flops, dynamicPanels panels of
// columns of C for every core, and a K of at least dynamicDepth; with less, all cores wait for each other longer than they multiply.
const dynamicFlops, dynamicPanels, dynamicDepth = 1 << 25, 8, 128

// dynamic computes a product with dynamic scheduling: cores claim runs of panels of columns of C one after the other, so that a core slowed down
// by other programs computes fewer. All cores pack each block of A together. Elements do not depend on the core that computes them.
type dynamic struct {
	gemm   *Blocked
	left   []float32 // the packed block of A
	block  Job
	panels int // number of panels of columns
	pack   packLeft
}

// schedules reports whether Dynamic computes a product: several cores share it.
func (s *Shape) schedules(spec *cpe.Spec) bool { return spec.CoreGroups > 1 && s.values() }

// fewClaims declines products that several cores share in less time in fixed parts. Otherwise Dynamic, whose cost is that of Packed, comes before it: no cost
// says by how much other programs slow down a core.
func fewClaims(p *Problem) error {
	_, nr := vgemm.Tile()
	return op.FirstReason(
		op.Unless(!p.Shape.streams(), "few rows of A are multiplied by a large B, whose columns cores share in fixed parts"),
		op.Unless(p.Shape.large() && p.Shape.K >= dynamicDepth && tiling.Blocks(p.Shape.N, nr) >= dynamicPanels*p.Spec.CoreGroups,
			"it is for products of %d operations or more, with a K of %d or more and enough columns for several cores", dynamicFlops, dynamicDepth))
}

// large reports whether a product has so many operations that cores claim parts of it.
func (s *Shape) large() bool { return 2*s.M*s.N*s.K >= dynamicFlops }

// claimedPanels is the number of panels of A's rows up to which a large product is bound by reading B, so that claims save nothing.
const claimedPanels = 2

// sharedByClaims declines large products of many rows, which cores would share in fixed parts.
func sharedByClaims(p *Problem) error {
	_, nr := vgemm.Tile()
	return op.Unless(p.Shape.M <= claimedPanels*nr || !p.Shape.large(), "cores claim parts of a large product with more than %d rows of A", claimedPanels*nr)
}

// newDynamic plans Dynamic: Packed with dynamic scheduling.
func newDynamic(m *cpe.Machine, s Shape) (*Blocked, error) {
	g, err := planBlocked(m, s, s, Dynamic)
	if err != nil {
		return nil, err
	}
	plan := g.Plan()
	p := &dynamic{gemm: g, left: pages.Floats(plan.BM * plan.BK), panels: tiling.Blocks(g.shape.N, plan.NR)}
	for i := range g.workers {
		t := &g.workers[i].product.tiles
		t.a.Divide()
		t.b.Divide()
		t.c.Divide()
		g.workers[i].product.left = p.left
	}
	p.pack.dynamic, g.dynamic = p, p
	return g, nil
}

// run computes the product, one block of A after the other. C is summed in the order of K.
func (p *dynamic) run() error {
	s, plan := &p.gemm.shape, p.gemm.Plan()
	p.block = Job{Accumulate: p.gemm.adds(), Bias: p.gemm.bias}
	for k := 0; k < s.K; k += plan.BK {
		p.block.K0, p.block.K1 = k, min(s.K, k+plan.BK)
		for m := 0; m < s.M; m += plan.BM {
			p.block.M0, p.block.M1 = m, min(s.M, m+plan.BM)
			if err := p.gemm.machine.Run(&p.pack, 0); err != nil {
				return err
			}
			if err := p.gemm.machine.Run(p, 0); err != nil {
				return err
			}
		}
		p.block.Accumulate, p.block.Bias = true, nil
	}
	return nil
}

// Name names the product.
func (p *dynamic) Name() string { return p.gemm.Name() }

// RunGroup computes the panels of columns that a core group claims.
func (p *dynamic) RunGroup(cg *cpe.CoreGroup) error {
	w := p.gemm.worker(cg)
	most := w.product.Plan.BN / w.product.Plan.NR
	for from, to := cg.Claim(p.panels, most); from < to; from, to = cg.Claim(p.panels, most) {
		job := &w.job
		job.M0, job.M1, job.K0, job.K1 = p.block.M0, p.block.M1, p.block.K0, p.block.K1
		job.N0, job.N1 = from*w.product.Plan.NR, min(p.gemm.shape.N, to*w.product.Plan.NR)
		job.Accumulate, job.Bias = p.block.Accumulate, p.block.Bias
		if err := w.product.Run(cg, job); err != nil {
			return err
		}
	}
	return nil
}

// packLeft is the stage that packs a block of A.
type packLeft struct{ *dynamic }

// RunGroup packs a core group's share of the panels.
func (p *packLeft) RunGroup(cg *cpe.CoreGroup) error {
	mr, _ := vgemm.Tile()
	b := &p.block
	lo, hi := tiling.Share(cg, b.M1-b.M0, mr)
	if lo == hi {
		return nil
	}
	deep := b.K1 - b.K0
	p.gemm.worker(cg).a.Gather(p.left[lo*deep:], cpe.Layout{Panel: mr, ByRows: true}, b.M0+lo, b.K0, hi-lo, deep)
	return nil
}
