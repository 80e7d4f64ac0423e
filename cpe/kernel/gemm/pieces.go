package gemm

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/pages"
	"github.com/swcaffe/swcaffe/internal/simd/vgemm"
)

// piecesFlops, piecesPanels and piecesDepth delimit the products that are shared by pieces: at least piecesFlops flops, and piecesPanels
// panels of columns of C for every core. If A must be packed, K is at least piecesDepth; otherwise packing takes longer than multiplying.
const piecesFlops, piecesPanels, piecesDepth = 1 << 25, 8, 128

// pieces computes a product with dynamic scheduling: cores claim runs of panels of columns of C one after the other, so that a core slowed down
// by other programs computes fewer. All cores pack each block of A together. Elements do not depend on the core that computes them.
type pieces struct {
	gemm   *Blocked
	left   []float32 // the packed block of A; nil if A is read in place
	block  Job
	panels int // number of panels of columns
	pack   packLeft
}

// inPieces reports whether Pieces computes a product: it is large enough, and packing A, if needed, pays.
func (s *Shape) inPieces(spec *cpe.Spec) bool {
	_, nr := vgemm.Tile()
	large := 2*s.M*s.N*s.K >= piecesFlops && tiling.Blocks(s.N, nr) >= piecesPanels*spec.CoreGroups
	return spec.CoreGroups > 1 && large && (s.leftInPlace(spec) || s.K >= piecesDepth)
}

// newPieces plans Pieces: Packed or PackedRight with dynamic scheduling.
func newPieces(m *cpe.Machine, s Shape) (*Blocked, error) {
	g, err := planBlocked(m, s, s, Pieces)
	if err != nil {
		return nil, err
	}
	plan, spec := g.Plan(), m.Spec()
	p := &pieces{gemm: g, panels: tiling.Blocks(g.shape.N, plan.NR)}
	for i := range g.workers {
		t := &g.workers[i].product.tiles
		t.a.Divide()
		t.b.Divide()
		t.c.Divide()
	}
	if s.leftInPlace(&spec) {
		g.readLeftInPlace()
	} else {
		p.left = pages.Floats(plan.BM * plan.BK)
		for i := range g.workers {
			g.workers[i].product.left = p.left
		}
	}
	p.pack.pieces, g.pieces = p, p
	return g, nil
}

// run computes the product, one block of A after the other. C is summed in the order of K.
func (p *pieces) run() error {
	s, plan := &p.gemm.shape, p.gemm.Plan()
	p.block = Job{Accumulate: p.gemm.adds(), Bias: p.gemm.bias}
	for k := 0; k < s.K; k += plan.BK {
		p.block.K0, p.block.K1 = k, min(s.K, k+plan.BK)
		for m := 0; m < s.M; m += plan.BM {
			p.block.M0, p.block.M1 = m, min(s.M, m+plan.BM)
			if p.left != nil {
				if err := p.gemm.machine.Run(&p.pack, 0); err != nil {
					return err
				}
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
func (p *pieces) Name() string { return p.gemm.Name() }

// RunGroup computes the pieces that a core group claims.
func (p *pieces) RunGroup(cg *cpe.CoreGroup) error {
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
type packLeft struct{ *pieces }

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
