package gemm

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/pages"
	"github.com/swcaffe/swcaffe/internal/simd/isa"
	"github.com/swcaffe/swcaffe/internal/simd/vgemm"
)

// unpackedShare, unpackedDepth and fewPanels delimit the products of unpacked operands. The right operand, which is read again for every
// panel of rows, takes at most 1/unpackedShare of L2, and K is at most unpackedDepth. With at most fewPanels panels of rows, packing does not
// pay.
const unpackedShare, unpackedDepth, fewPanels = 5, 768, 2

// unpacked reports whether the host reads both operands in place because packing them would take longer.
func (s *Shape) unpacked(spec *cpe.Spec) bool {
	mr, nr := vgemm.Tile()
	near := s.N > nr/2 && s.K > 0 && s.K <= unpackedDepth && 4*s.K*s.N <= spec.LDMBytes/unpackedShare
	return isa.Vectors() && near && !s.TransB && (!s.TransA || s.M <= fewPanels*mr)
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

// multiplyUnpacked computes a worker's part of C, which may be empty. Sums have the same order as with packed operands.
func (w *gemmWorker) multiplyUnpacked(s *Shape) {
	job, c := &w.job, &w.job.C
	if job.M0 >= job.M1 || job.N0 >= job.N1 {
		return
	}
	mr, nr := vgemm.Tile()
	packed := s.packedColumns(job.N1 - job.N0)
	w.b.Gather(w.own.right, cpe.Layout{Panel: nr}, 0, job.N1-packed, s.K, packed)
	pass := max(1, passValues/(mr*s.K)) * mr
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

// shortRows and fewColumns delimit the products whose left operand is read in place. Its rows are short, so that a panel of rows is close
// together in memory; and there are few columns, so that packing it once for all of them does not pay.
const shortRows, fewColumns = 512, 512

// leftInPlace reports whether the host packs only the right operand.
func (s *Shape) leftInPlace(*cpe.Spec) bool {
	return isa.Vectors() && !s.TransA && s.K > 0 && s.K <= shortRows && s.N < fewColumns
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

// AtOnce returns how many of m rows a strided kernel can compute in one call, deep columns of each. It is m, unless the last tile would read
// beyond the matrix; then it is the rows before that tile, or the tile alone.
func (o *Operand) AtOnce(row, m, deep int) int {
	mr, _ := vgemm.Tile()
	if m <= mr || o.inside(row, m, 0, deep) {
		return m
	}
	return (m - 1) / mr * mr
}

// inside reports whether a strided kernel for m rows reads nothing beyond the matrix.
func (o *Operand) inside(row, m, col, deep int) bool {
	at, down, along := o.steps(row, col)
	return at+(vgemm.StridedRows(m)-1)*down+(deep-1)*along < len(o.Data)
}

// steps returns the index of value (row, col), and the distances of the next value down and along.
func (o *Operand) steps(row, col int) (at, down, along int) {
	if o.trans {
		return col*o.Ld + row, 1, o.Ld
	}
	return row*o.Ld + col, o.Ld, 1
}

// Strided returns m rows, columns [col, col+deep), as operands of a strided kernel, with the distances of values down and along. They are
// read in place or, if the kernel would read beyond the matrix, packed into panel; these are at most one tile.
func (o *Operand) Strided(panel []float32, row, m, col, deep int) (data []float32, down, along int) {
	if o.inside(row, m, col, deep) {
		at, down, along := o.steps(row, col)
		return o.Data[at:], down, along
	}
	mr, _ := vgemm.Tile()
	o.Gather(panel, cpe.Layout{Panel: mr, ByRows: true}, row, col, m, deep)
	return panel, 1, mr
}
