package gemm

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/simd/vgemm"
)

// Shape describes C (MxN) = op(A) (MxK) * op(B) (KxN). op transposes if the flag is set: A is then stored KxM, B NxK. With Accumulate the
// product is added to C.
type Shape struct {
	M, N, K        int
	TransA, TransB bool
	Accumulate     bool
	Pieces         bool // K is cut into pieces at unrelated addresses, so that loads cannot run ahead
}

// doubleBuffers reports whether the next block is fetched while one is multiplied.
func (s *Shape) doubleBuffers(spec *cpe.Spec) bool {
	return spec.DMA.OverlapsBuses || !s.Accumulate && !s.Pieces
}

// String prints the shape.
func (s Shape) String() string {
	t := map[bool]string{true: "'", false: ""}
	return fmt.Sprintf("%dx%dx%d A%s B%s", s.M, s.N, s.K, t[s.TransA], t[s.TransB])
}

// The three block indices of a product, in the order in which a plan nests its loops.
const (
	loopM = iota
	loopN
	loopK
)

// Plan is the blocking of a product for one core group. A block of A, B or C is fetched when the loops move to another block of it.
//
// On a mesh the loops nest M, N, K: a block of C stays in LDM while blocks of A and B pass (C-stationary, the first choice of Fang 2019, fig.
// 4.5, whose required bandwidth is (1/BM + 1/BN)*DS*T/2). On the host they nest K, M, N: a packed block of A stays in the shared cache,
// blocks of B in L2, and C is updated in memory. That is BLIS's nest (Van Zee and van de Geijn 2015) with A and B exchanged, because the left
// operand is usually the larger one here: weights.
type Plan struct {
	BM, BN, BK int
	Order      [3]int
	Steps      int // parts of a block's K; each is broadcast once
	MR, NR     int // rows and columns of this computer's micro-kernel
	Double     bool
	LDM        int // bytes of one CPE's LDM
	Share      Sharing
}

// Sharing says how core groups share C: in units of Rows or Cols. A product of fewer than Least flops is left to one core group. With K less
// than Short, writing C takes longer than multiplying.
type Sharing struct{ Rows, Cols, Least, Short int }

// String prints the plan on a line.
func (p Plan) String() string {
	names := [3]string{"M", "N", "K"}
	return fmt.Sprintf("blocks %dx%dx%d, loops %s%s%s, %d steps, LDM %d bytes",
		p.BM, p.BN, p.BK, names[p.Order[0]], names[p.Order[1]], names[p.Order[2]], p.Steps, p.LDM)
}

// NewPlan chooses the blocking.
func NewPlan(spec *cpe.Spec, s Shape) (Plan, error) {
	if s.byDMA(spec) {
		return NewMeshPlan(spec, s)
	}
	return planHostGemm(spec, s), nil
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

// streamedValues and the other constants delimit and block streamed products: at most streamedRows rows, and at least streamedValues values
// of B. They are bound by memory bandwidth. Blocks of B have few rows (streamedDepth) and many columns (streamedColumns), and follow each
// other along the rows: what the hardware prefetcher loads beyond the end of a block's row is used by the next block.
const streamedValues, streamedRows, streamedDepth, streamedColumns = 1 << 20, 48, 128, 384

// streams reports whether the host computes a product by Streamed: few rows, and a large B, not transposed, read from memory.
func (s *Shape) streams(*cpe.Spec) bool {
	return !s.TransA && !s.TransB && s.M <= streamedRows && s.N*s.K >= streamedValues
}

// planStreamed plans a streamed product.
func planStreamed(spec *cpe.Spec, s Shape) Plan {
	p := planHostGemm(spec, s)
	p.BK, p.BN = tiling.Even(s.K, streamedDepth, 1), tiling.Even(s.N, streamedColumns, p.NR)
	tiles := newTiles(spec, p)
	p.LDM = tiles.bytes(spec, p)
	return p
}

// tiles are the three tiles of a product on a mesh. A is cut into mesh rows and steps, B into steps and mesh columns, C into mesh rows and
// mesh columns.
type tiles struct{ a, b, c cpe.Tile }

func newTiles(spec *cpe.Spec, p Plan) tiles {
	return tiles{
		a: cpe.Tile{RowParts: spec.Rows, ColParts: p.Steps, Layout: cpe.Layout{Panel: p.MR, ByRows: true}, Double: p.Double},
		b: cpe.Tile{RowParts: p.Steps, ColParts: spec.Cols, Layout: cpe.Layout{Panel: p.NR}, Double: p.Double},
		c: cpe.Tile{RowParts: spec.Rows, ColParts: spec.Cols, PadRows: p.MR, PadCols: p.NR},
	}
}

// extents lists the tiles with the extents of the plan's blocks.
func (t *tiles) extents(p Plan) []cpe.TileExtent {
	return []cpe.TileExtent{
		{Tile: &t.a, Rows: p.BM, Cols: p.BK}, {Tile: &t.b, Rows: p.BK, Cols: p.BN}, {Tile: &t.c, Rows: p.BM, Cols: p.BN, Placed: true},
	}
}

func (t *tiles) bytes(spec *cpe.Spec, p Plan) int {
	ldm, _ := cpe.Need(spec, t.extents(p)...)
	return 4 * ldm
}

// Check returns an error if an extent is negative.
func (s Shape) Check() error {
	return tiling.Check(s, tiling.Bound{Name: "M", N: s.M, Least: 0}, tiling.Bound{Name: "N", N: s.N, Least: 0}, tiling.Bound{Name: "K", N: s.K, Least: 0})
}
