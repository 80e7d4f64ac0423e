package gemm

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vgemm"
)

// any reports whether Packed computes a product: always.
func (s *Shape) any(*cpe.Spec) bool { return true }

// newPacked plans Packed: blocks of both operands are packed, and each core group computes a fixed part of C.
func newPacked(m *cpe.Machine, s Shape) (*Blocked, error) {
	if !s.streams() {
		return planBlocked(m, s, s, Packed)
	}
	spec := m.Spec()
	p := planHostGemm(&spec, s)
	p.BK, p.BN = tiling.Even(s.K, streamedDepth, 1), tiling.Even(s.N, streamedColumns, p.NR)
	tiles := newTiles(&spec, p)
	p.LDM = tiles.bytes(&spec, p)
	return newBlocked(m, s, s, p, Packed), nil
}

// streamedRows and streamedValues delimit the products that stream a large B from memory: at most streamedRows rows of A, and at least streamedValues
// values of B. Its blocks have few rows (streamedDepth) and many columns (streamedColumns), and follow each other along the rows, as prefetchers do. It
// decides training's bits, since the sums of a block are added to C.
const streamedRows, streamedValues, streamedDepth, streamedColumns = 48, 1 << 20, 128, 384

// streams reports whether a product streams B, which is not transposed.
func (s *Shape) streams() bool {
	return !s.TransA && !s.TransB && s.M <= streamedRows && s.N*s.K >= streamedValues
}

// hostDepth is the largest K of a host's block; hostBlock is the number of values of a packed block of A, which stays in L3.
const (
	hostDepth = 512
	hostBlock = 3 << 18
)

// smallGemm is the number of flops below which sharing a product with another core costs more than it saves. shortSums is the K up to which
// a product is bound by moving its operands and C.
const (
	smallGemm = 1 << 19
	shortSums = 16
)

// planHostGemm plans a product on the host. K is cut so that a panel of A leaves room in L1 and sums are rarely stored. A block has as many
// rows of A as fit L3, and as many columns of B as fit half of L2: while a panel of A is in L1, panels of B come from L2.
func planHostGemm(spec *cpe.Spec, s Shape) Plan {
	p := Plan{Order: [3]int{loopK, loopM, loopN}, Steps: 1}
	p.MR, p.NR = vgemm.Tile()
	p.Share = Sharing{Rows: p.MR, Cols: p.NR, Least: smallGemm, Short: shortSums + 1}
	p.BK = tiling.Even(s.K, hostDepth, 1)
	p.BM = tiling.Even(s.M, max(p.MR, hostBlock/p.BK), p.MR)
	p.BN = tiling.Even(s.N, max(2*p.NR, spec.LDMBytes/2/4/p.BK), p.NR)
	tiles := newTiles(spec, p)
	p.LDM = tiles.bytes(spec, p)
	return p
}
