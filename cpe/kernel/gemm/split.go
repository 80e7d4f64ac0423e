package gemm

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

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
