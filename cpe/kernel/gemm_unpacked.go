package kernel

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/pages"
	"github.com/swcaffe/swcaffe/internal/simd/isa"
	"github.com/swcaffe/swcaffe/internal/simd/vgemm"
)

// Where neither operand is packed, the right one, which is read again for every panel of rows, takes at most one part in unpackedShare
// of L2, and sums are of at most unpackedDepth products. fewPanels are so few panels of rows that packing it does not pay.
const unpackedShare, unpackedDepth, fewPanels = 5, 768, 2

// unpacked reports whether the host multiplies operands where they lie, since packing them would take longer than reading them from
// there.
func (s *GemmShape) unpacked(spec *cpe.Spec) bool {
	mr, nr := vgemm.Tile()
	near := s.N > nr/2 && s.K > 0 && s.K <= unpackedDepth && 4*s.K*s.N <= spec.LDMBytes/unpackedShare
	return spec.Native() && isa.Vectors() && near && !s.TransB && (!s.TransA || s.M <= fewPanels*mr)
}

// shortSums is the length of sums that take less time than the operands and C do on their way.
const shortSums = 16

// packedColumns is the number of columns of the right operand that are packed though: those that fill no panel, and all where rows do
// not begin with a line of the cache, so that every vector would be read from two, unless rows of C are too few or sums too short.
func (s *GemmShape) packedColumns(columns int) int {
	mr, nr := vgemm.Tile()
	if s.N%(nr/2) == 0 || s.M <= fewPanels*mr || s.K <= shortSums {
		return columns % nr
	}
	return columns
}

// ownPanels are the panels that a worker packs of operands that otherwise are not.
type ownPanels struct{ left, right []float32 }

func newOwnPanels(s *GemmShape) ownPanels {
	mr, nr := vgemm.Tile()
	return ownPanels{pages.Make[float32](mr * s.K), pages.Make[float32](tiling.Blocks(max(nr, s.packedColumns(s.N)), nr) * nr * s.K)}
}

// passValues is about how many values of the left operand a pass over columns of C reads again and again, which then L1 holds.
const passValues = 4096

// multiplyUnpacked computes a worker's part of C, which may be empty. Sums have the order that they have with packed operands.
func (w *gemmWorker) multiplyUnpacked(s *GemmShape) {
	job, c := &w.job, &w.job.c
	if job.m0 >= job.m1 || job.n0 >= job.n1 {
		return
	}
	mr, nr := vgemm.Tile()
	packed := s.packedColumns(job.n1 - job.n0)
	w.b.Gather(w.own.right, cpe.Layout{Panel: nr}, 0, job.n1-packed, s.K, packed)
	pass := max(1, passValues/(mr*s.K)) * mr
	for i, m := job.m0, 0; i < job.m1; i += m {
		m = w.a.together(i, min(pass, job.m1-i), s.K)
		left, down, along := w.a.rows(w.own.left, i, m, 0, s.K)
		for j := job.n0; j < job.n1; j += nr {
			right, ld := w.b.Data[j:], w.b.Ld
			if at := j - job.n1 + packed; at >= 0 {
				right, ld = w.own.right[at*s.K:], nr
			}
			vgemm.StridedPanel(m, min(nr, job.n1-j), s.K, left, down, along, right, ld, c.Data[i*c.Ld+j:], c.Ld, job.accumulate)
		}
	}
}

// startRows writes the bias that is added to the rows of a worker's part.
func (j *productJob) startRows() {
	for i := j.m0; i < j.m1; i++ {
		copy(j.c.Data[i*j.c.Ld+j.n0:i*j.c.Ld+j.n1], j.bias[j.n0:])
	}
}

// A left operand is not packed whose rows are short, so that a panel of them lies near together, and that is multiplied with few
// columns, so that packing it, which is done once for all of them, takes longer than what it saves.
const shortRows, fewColumns = 512, 512

// leftInPlace reports whether the host packs the right operand alone.
func (s *GemmShape) leftInPlace(spec *cpe.Spec) bool {
	return spec.Native() && isa.Vectors() && !s.TransA && s.K > 0 && s.K <= shortRows && s.N < fewColumns
}

// multiplyRows multiplies m rows of A, read where they lie, with the block of B that is held, for columns of C from col on.
func (p *product) multiplyRows(row, m, col, k0, depth int, accumulate bool) {
	a, b, c := p.job.a.(*operand), p.b.Values(), &p.job.c
	_, cols := p.b.Whole()
	for end := row + m; row < end; row += p.plan.MR {
		m = min(p.plan.MR, end-row)
		left, down, along := a.rows(p.edge, row, m, k0, depth)
		for j := 0; j < cols; j += p.plan.NR {
			n := min(p.plan.NR, cols-j)
			vgemm.StridedPanel(m, n, depth, left, down, along, b[j*depth:], p.plan.NR, c.Data[row*c.Ld+col+j:], c.Ld, accumulate)
		}
	}
}

// together is how many of m rows a strided kernel does at once, deep columns of each: all, or, if for the last tile it would read beyond
// the matrix, either those before that or that alone.
func (o *operand) together(row, m, deep int) int {
	mr, _ := vgemm.Tile()
	if m <= mr || o.inside(row, m, 0, deep) {
		return m
	}
	return (m - 1) / mr * mr
}

// inside reports whether a strided kernel that does m rows reads nothing beyond the matrix.
func (o *operand) inside(row, m, col, deep int) bool {
	at, down, along := o.steps(row, col)
	return at+(vgemm.StridedRows(m)-1)*down+(deep-1)*along < len(o.Data)
}

// steps are where value (row, col) lies, and the distances of values down and along.
func (o *operand) steps(row, col int) (at, down, along int) {
	if o.trans {
		return col*o.Ld + row, 1, o.Ld
	}
	return row*o.Ld + col, o.Ld, 1
}

// rows returns m rows of a matrix as a strided kernel reads values [col, col+deep) of them, with the distances of values down and
// along: where they lie, or packed, one tile at most, if the kernel would read beyond the matrix.
func (o *operand) rows(panel []float32, row, m, col, deep int) (data []float32, down, along int) {
	if o.inside(row, m, col, deep) {
		at, down, along := o.steps(row, col)
		return o.Data[at:], down, along
	}
	mr, _ := vgemm.Tile()
	o.Gather(panel, cpe.Layout{Panel: mr, ByRows: true}, row, col, m, deep)
	return panel, 1, mr
}
