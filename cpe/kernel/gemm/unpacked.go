package gemm

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/internal/base/simd/vgemm"
)

// fewPanels is the number of panels of rows up to which packing columns of the right operand does not pay.
const fewPanels = 2

// unpacked reports whether Unpacked computes a product: the rows of both operands can be read in place, and K is one block of Packed, so that the sums are
// the same.
func (s *Shape) unpacked(*cpe.Spec) bool {
	return vgemm.HasStrided() && !s.TransB && s.K <= hostDepth && !s.streams() && s.values()
}

// newUnpacked plans Unpacked: both operands are read in place, except panels that would reach beyond them.
func newUnpacked(m *cpe.Machine, s Shape) (*Blocked, error) {
	g, err := planBlocked(m, s, s, Unpacked)
	if err != nil {
		return nil, err
	}
	g.each = (*Blocked).runUnpacked
	for i := range g.workers {
		g.workers[i].own = newOwnPanels(&s)
	}
	return g, nil
}

// runUnpacked computes a core group's part of C.
func (g *Blocked) runUnpacked(cg *cpe.CoreGroup) error {
	w := g.worker(cg)
	return g.split.Share(cg, &w.job, func() error {
		if g.bias != nil {
			w.job.startRows()
			w.job.Accumulate = true
		}
		w.multiplyUnpacked(&g.shape)
		return nil
	})
}

// packedColumns is the number of columns of the right operand that are packed nevertheless. Columns that fill no panel always are. All are if
// rows do not start at a cache line, so that each vector load would touch two lines; but not if C has few rows or sums are short.
func (s *Shape) packedColumns(columns int) int {
	mr, nr := vgemm.Tile()
	if s.N%(nr/2) == 0 || s.M <= fewPanels*mr || s.K <= shortSums {
		return columns % nr
	}
	return columns
}

// ownPanels are a worker's buffers for the few panels that must be packed.
type ownPanels struct{ left, right []float32 }

func newOwnPanels(s *Shape) ownPanels {
	mr, nr := vgemm.Tile()
	return ownPanels{pages.Make[float32](mr * s.K), pages.Make[float32](tiling.Blocks(max(nr, s.packedColumns(s.N)), nr) * nr * s.K)}
}

// passValues is approximately the number of values of the left operand that one pass over the columns of C reuses from L1.
const passValues = 4096

// passRows is the number of rows of C in a pass.
func (s *Shape) passRows() int {
	mr, _ := vgemm.Tile()
	return max(1, passValues/(mr*s.K)) * mr
}

// multiplyUnpacked computes a worker's part of C, which may be empty. Sums have the same order as with packed operands.
func (w *gemmWorker) multiplyUnpacked(s *Shape) {
	job, c := &w.job, &w.job.C
	if job.M0 >= job.M1 || job.N0 >= job.N1 {
		return
	}
	_, nr := vgemm.Tile()
	packed := s.packedColumns(job.N1 - job.N0)
	w.b.Gather(w.own.right, cpe.Layout{Panel: nr}, 0, job.N1-packed, s.K, packed)
	pass := s.passRows()
	for i, m := job.M0, 0; i < job.M1; i += m {
		m = w.a.AtOnce(i, min(pass, job.M1-i), s.K)
		left, down, along := w.a.Strided(w.own.left, i, m, 0, s.K)
		for j := job.N0; j < job.N1; j += nr {
			right, ld := w.b.Data[j:], w.b.Ld
			if at := j - job.N1 + packed; at >= 0 {
				right, ld = w.own.right[at*s.K:], nr
			}
			vgemm.StridedPanel(m, min(nr, job.N1-j), s.K, left, down, along, right, ld, c.Data[i*c.Ld+j:], c.Ld, job.Accumulate)
		}
	}
}

// startRows writes the bias to the rows of a worker's part, before products are added.
func (j *Job) startRows() {
	for i := j.M0; i < j.M1; i++ {
		copy(j.C.Data[i*j.C.Ld+j.N0:i*j.C.Ld+j.N1], j.Bias[j.N0:])
	}
}
