package gemm

import (
	"cmp"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// Split says how core groups share a product: rows or columns of C in whole panels, or the sum over K. Many core groups share the rows of pieces of some
// columns, or the columns of pieces of some rows: otherwise each would have few rows, and pack all columns.
type Split struct {
	byRows, byDepth bool
	unit            int
	piece           int // columns of a piece, or rows, if its rows are not shared; 0: all
	Groups          int // 0: all
}

const (
	// packingFlops is the cost of packing one value on the host, in flops of the micro-kernel.
	packingFlops = 32
	// pieceGroups is the least number of core groups for a piece.
	pieceGroups = 2
)

// NewSplit chooses rows or columns, and pieces, whichever leaves the busiest core group least multiplying and packing. If core groups share the images of
// every layer, it chooses rows, which are images. If K is less than Plan.Share.Short, it chooses rows even if some groups get more: no cache
// line of C is then written by two cores.
func NewSplit(spec *cpe.Spec, p Plan, s Shape) Split {
	if spec.Software.DataParallel {
		return Split{byRows: true, unit: 1}
	}
	groups := 0
	if 2*s.M*s.N*s.K < p.Share.Least {
		groups = 1
	}
	row, col := Split{byRows: true, unit: p.Share.Rows, Groups: groups}, Split{unit: p.Share.Cols, Groups: groups}
	if s.K < p.Share.Short && 4*row.busiest(spec, s.M, s.N)*s.N <= 5*s.M*col.busiest(spec, s.N, s.M) {
		return row
	}
	rows, cols := row.inPieces(spec, s.M, s.N, col.unit, pieceGroups), col.inPieces(spec, s.N, s.M, row.unit, pieceGroups)
	if rows.work(spec, s.M, s.N) < cols.work(spec, s.N, s.M) {
		return rows
	}
	return cols
}

// inPieces returns the split with pieces of the other extent, in whole units, if that leaves the busiest core group less. A piece is for a number of core
// groups or more.
func (s Split) inPieces(spec *cpe.Spec, shared, other, unit, groups int) Split {
	best := s
	for n := 2; n*groups <= spec.CoreGroups && !spec.HasDMA() && min(shared, other) > 0; n *= 2 {
		s.piece = tiling.Even(other, tiling.Blocks(other, n), unit)
		if s.work(spec, shared, other) < best.work(spec, shared, other) {
			best = s
		}
	}
	return best
}

// busiest is the largest number of rows, or columns, that a core group has of a piece's or of several pieces'.
func (s *Split) busiest(spec *cpe.Spec, shared, other int) int {
	return tiling.Blocks(tiling.Blocks(shared, s.unit)*s.pieces(other), spec.CoreGroups) * s.unit
}

// pieces is the number of pieces of an extent.
func (s *Split) pieces(extent int) int {
	return max(1, tiling.Blocks(extent, max(1, cmp.Or(s.piece, extent))))
}

// work is the multiplying and packing of the busiest core group for each of K.
func (s *Split) work(spec *cpe.Spec, shared, other int) int {
	n, width := s.busiest(spec, shared, other), cmp.Or(s.piece, other)
	return 2*n*width + packingFlops*(n+width)
}

// Share does a core group's parts of a job, one after the other; each is in one piece.
func (s *Split) Share(g *cpe.CoreGroup, job *Job, do func() error) error {
	lo, hi, from, to := &job.N0, &job.N1, &job.M0, &job.M1
	switch {
	case s.byRows:
		lo, hi, from, to = from, to, lo, hi
	case s.byDepth:
		lo, hi = &job.K0, &job.K1
	}
	first, end, before, behind := *lo, *hi, *from, *to
	units, width := tiling.Blocks(end-first, s.unit), cmp.Or(s.piece, behind-before)
	at, last := g.Share(units * s.pieces(behind-before))
	for at < last {
		unit, piece := at%units, before+at/units*width
		n := min(units-unit, last-at)
		*lo, *hi = first+unit*s.unit, min(end, first+(unit+n)*s.unit)
		*from, *to = piece, min(behind, piece+width)
		if err := do(); err != nil {
			return err
		}
		at += n
	}
	return nil
}
