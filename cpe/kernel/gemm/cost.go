package gemm

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/factors"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vgemm"
)

// The costs of the algorithms are work on all core groups together, in operations of the GEMM micro-kernel: those of tiles with their empty lanes, and
// what moving values takes. The constants were fitted to the times in testdata/costs.txt, which TestCosts measures: a core does about 75 operations in a
// nanosecond there. Half or twice the value of one of them changes few choices.
const (
	// moveWork is for a value of an operand that is packed, or read in place down a column, and for a value of C in each block of K.
	moveWork = 26
	// readWork is for a value of B that is read in place, once, along its rows.
	readWork = 6
	// startWork is for a run, and again for the loops over blocks.
	startWork = 35000
)

// values reports whether there are any to multiply.
func (s *Shape) values() bool { return min(s.M, s.N, s.K) > 0 }

// tiles is the work of the micro-kernel on m x n sums over K: a tile of few rows or columns is computed in thirds of rows and halves of columns.
func (s *Shape) tiles(m, n int) float64 {
	mr, nr := vgemm.Tile()
	return 2 * float64(s.K) * float64(whole(m, mr/3)) * float64(whole(n, nr/2))
}

// whole is n, rounded up to a multiple of unit.
func whole(n, unit int) int { return tiling.Blocks(n, unit) * unit }

// moved is the work of moving values.
func moved(values int) float64 { return moveWork * float64(values) }

// packedCost is the cost of Packed, and of Dynamic.
func packedCost(p *Problem) float64 {
	s := &p.Shape
	return s.tiles(s.M, s.N) + moved(s.M*s.K+s.K*s.N+s.M*s.N*tiling.Blocks(s.K, hostDepth)) + 2*startWork
}

// unpackedCost is the cost of Unpacked. A B that does not stay in L2 is moved again in every pass over the columns, a panel's columns at a time, which takes
// twice the work, since no prefetcher follows; and so it is with a C that does not stay there. Operands whose rows are whole pages apart fall into the same
// sets of L1, and are as far.
func unpackedCost(p *Problem) float64 {
	s := &p.Shape
	moves := s.K*s.packedColumns(s.N) + s.M*s.N
	if far(s.K, s.N, p.Spec.LDMBytes/2) {
		moves += 2 * s.K * s.N * tiling.Blocks(s.M, s.passRows())
	}
	if far(s.M, s.N, p.Spec.LDMBytes) {
		moves += s.M * s.N
	}
	if s.TransA {
		moves += s.M * s.K
	}
	if s.TransA && far(s.K, s.M, p.Spec.LDMBytes) {
		moves += s.M * s.K
	}
	return s.tiles(s.M, s.N) + moved(moves) + startWork
}

// far reports whether a matrix does not stay in a cache of some bytes.
func far(rows, columns, bytes int) bool { return columns%pageValues == 0 || 4*rows*columns > bytes }

// transposedCost is the cost of Transposed. The sums are moved twice: stored, and transposed.
func transposedCost(p *Problem) float64 {
	s := &p.Shape
	return s.tiles(s.N, s.M) + readWork*float64(s.K*s.N) + moved(s.M*s.K+2*s.M*s.N) + startWork
}

// dotsCost is the cost of Dots: every skinnyRows rows of A read B again, from L1 but for the first.
func dotsCost(p *Problem) float64 {
	s := &p.Shape
	return readWork*float64(s.K*s.N*tiling.Blocks(s.M, skinnyRows)) + startWork
}

// skinnyCost is the cost of Skinny: the large matrix is read or written once.
func skinnyCost(p *Problem) float64 {
	s := &p.Shape
	return readWork*float64(s.K*s.N+s.M*s.K+s.M*s.N) + startWork
}

// rowSumsCost is the cost of RowSums, which also adds up the sums of its parts.
func rowSumsCost(p *Problem) float64 {
	return skinnyCost(p) + readWork*float64(rowParts*p.Shape.M*p.Shape.N) + startWork
}

// roundedCost is the cost of whole panels of factors of which rate are multiplied in the time of one of float32. Packed weights are kept, and read.
func roundedCost(rate float64) func(p *Problem) float64 {
	return func(p *Problem) float64 {
		s := &p.Shape
		columns := float64(whole(s.N, factors.Panel))
		return (2*float64(s.M)+readWork)*float64(s.K)*columns/rate + startWork
	}
}
