package gemm

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// streamedValues and the other constants delimit and block streamed products: at most streamedRows rows, and at least streamedValues values
// of B. They are bound by memory bandwidth. Blocks of B have few rows (streamedDepth) and many columns (streamedColumns), and follow each
// other along the rows: what the hardware prefetcher loads beyond the end of a block's row is used by the next block.
const streamedValues, streamedRows, streamedDepth, streamedColumns = 1 << 20, 48, 128, 384

// streams reports whether Streamed computes a product: few rows, and a large B, not transposed, read from memory.
func (s *Shape) streams(*cpe.Spec) bool {
	return !s.TransA && !s.TransB && s.M <= streamedRows && s.N*s.K >= streamedValues
}

// newStreamed plans Streamed: long blocks of a large right operand are packed, which is read from memory once.
func newStreamed(m *cpe.Machine, s Shape) (*Blocked, error) {
	spec := m.Spec()
	return newBlocked(m, s, s, planStreamed(&spec, s), Streamed), nil
}

// planStreamed returns the blocking.
func planStreamed(spec *cpe.Spec, s Shape) Plan {
	p := planHostGemm(spec, s)
	p.BK, p.BN = tiling.Even(s.K, streamedDepth, 1), tiling.Even(s.N, streamedColumns, p.NR)
	tiles := newTiles(spec, p)
	p.LDM = tiles.bytes(spec, p)
	return p
}
