package kernel

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/simd"
)

// unpackedShare is the share of L2, as a divisor, that the right operand of a product may take whose operands are not packed: it is
// read again for every panel of rows. fewPanels are so few panels of rows that packing it does not pay.
const unpackedShare, fewPanels = 5, 2

// unpacked reports whether the host multiplies operands where they lie, since packing them would take longer than reading them from
// there.
func (s *GemmShape) unpacked(spec *cpe.Spec) bool {
	mr, nr := simd.Micro()
	near := s.N > nr/2 && s.K > 0 && s.K <= hostDepth && 4*s.K*s.N <= spec.LDMBytes/unpackedShare
	return spec.Native() && simd.Vectors() && near && !s.TransB && (!s.TransA || s.M <= fewPanels*mr)
}

// packedColumns is the number of columns of the right operand that are packed though: those that fill no panel, and all where rows do
// not begin with a line of the cache, so that every vector would be read from two, unless rows of C are too few.
func (s *GemmShape) packedColumns(columns int) int {
	mr, nr := simd.Micro()
	if s.N%(nr/2) == 0 || s.M <= fewPanels*mr {
		return columns % nr
	}
	return columns
}

// ownPanels are the panels that a worker packs of operands that otherwise are not.
type ownPanels struct{ left, right []float32 }

func newOwnPanels(s *GemmShape) ownPanels {
	mr, nr := simd.Micro()
	return ownPanels{make([]float32, mr*s.K), make([]float32, blocks(max(nr, s.packedColumns(s.N)), nr)*nr*s.K)}
}

// multiplyUnpacked computes a worker's part of C. Sums have the order that they have with packed operands.
func (w *gemmWorker) multiplyUnpacked(s *GemmShape) {
	job, c := &w.job, &w.job.c
	mr, nr := simd.Micro()
	row, col := w.a.Ld, 1
	if s.TransA {
		row, col = 1, w.a.Ld
	}
	packed := s.packedColumns(job.n1 - job.n0)
	w.b.Gather(w.own.right, cpe.Layout{Panel: nr}, 0, job.n1-packed, s.K, packed)
	for i := job.m0; i < job.m1; i += mr {
		m := min(mr, job.m1-i)
		left, down, along := w.a.Data[i*row:], row, col
		if i+simd.StridedRows(m) > s.M {
			w.a.Gather(w.own.left, cpe.Layout{Panel: mr, ByRows: true}, i, 0, m, s.K)
			left, down, along = w.own.left, 1, mr
		}
		for j := job.n0; j < job.n1; j += nr {
			right, ld := w.b.Data[j:], w.b.Ld
			if at := j - job.n1 + packed; at >= 0 {
				right, ld = w.own.right[at*s.K:], nr
			}
			simd.StridedEdge(s.K, left, down, along, right, ld, c.Data[i*c.Ld+j:], c.Ld, m, min(nr, job.n1-j), job.accumulate)
		}
	}
}

// startRows writes the bias that is added to the rows of a worker's part.
func (j *productJob) startRows() {
	for i := j.m0; i < j.m1; i++ {
		copy(j.c.Data[i*j.c.Ld+j.n0:i*j.c.Ld+j.n1], j.bias[j.n0:])
	}
}
