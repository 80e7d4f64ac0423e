package gemm

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/internal/base/simd/vgemm"
)

// shortRows and fewColumns delimit the products whose left operand is read in place. Its rows are short, so that a panel of rows is close
// together in memory; and there are few columns, so that packing it once for all of them does not pay.
const shortRows, fewColumns = 512, 512

// leftInPlace reports whether PackedRight computes a product.
func (s *Shape) leftInPlace(*cpe.Spec) bool {
	return vgemm.HasStrided() && !s.TransA && s.K > 0 && s.K <= shortRows && s.N < fewColumns
}

// newPackedRight plans PackedRight: only the right operand is packed.
func newPackedRight(m *cpe.Machine, s Shape) (*Blocked, error) {
	g, err := planBlocked(m, s, s, PackedRight)
	if err != nil {
		return nil, err
	}
	g.readLeftInPlace()
	return g, nil
}

// readLeftInPlace lets the nests read the left operand in place.
func (g *Blocked) readLeftInPlace() {
	for i := range g.workers {
		n := g.workers[i].product
		n.edge = pages.Make[float32](n.Plan.MR * n.Plan.BK)
	}
}

// multiplyRows multiplies m rows of A, read in place, by the current block of B. The products belong to the columns of C from col on.
func (p *Nest) multiplyRows(row, m, col, k0, depth int, accumulate bool) {
	a, b, c := p.job.A.(*Operand), p.b.Values(), &p.job.C
	_, cols := p.b.Whole()
	for end := row + m; row < end; row += p.Plan.MR {
		m = min(p.Plan.MR, end-row)
		left, down, along := a.Strided(p.edge, row, m, k0, depth)
		for j := 0; j < cols; j += p.Plan.NR {
			n := min(p.Plan.NR, cols-j)
			vgemm.StridedPanel(m, n, depth, left, down, along, b[j*depth:], p.Plan.NR, c.Data[row*c.Ld+col+j:], c.Ld, accumulate)
		}
	}
}
