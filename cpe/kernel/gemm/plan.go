package gemm

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// Shape describes C (MxN) = op(A) (MxK) * op(B) (KxN). op transposes if the flag is set: A is then stored KxM, B NxK. With Accumulate the
// product is added to C.
type Shape struct {
	M, N, K        int
	TransA, TransB bool
	Accumulate     bool
	Scattered      bool // parts of K are at unrelated addresses, so that the next block cannot be fetched ahead
}

// doubleBuffers reports whether the next block is fetched while one is multiplied.
func (s *Shape) doubleBuffers(spec *cpe.Spec) bool {
	return spec.DMA.OverlapsBuses || !s.Accumulate && !s.Scattered
}

// chains reports whether blocks of C are stored while others are multiplied. Kernels for register buses do not: they are those that were
// published for the SW26010, whose LDM has no room for it.
func (s *Shape) chains(spec *cpe.Spec) bool {
	return spec.HasRMA() && !spec.Software.Unchained && s.doubleBuffers(spec)
}

// String prints the shape.
func (s Shape) String() string {
	t := map[bool]string{true: "'", false: ""}
	return fmt.Sprintf("%dx%dx%d A%s B%s", s.M, s.N, s.K, t[s.TransA], t[s.TransB])
}

// Empty is false: all kernels compute products without values.
func (s Shape) Empty() bool { return false }

// Describe describes the product in a line.
func (s Shape) Describe(shape.Direction, shape.Layout, shape.Layout) string {
	return "product " + s.String()
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
	Chained    bool // C has two buffers: a block is stored while the next one is multiplied
	LDM        int  // bytes of one CPE's LDM
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

// tiles are the three tiles of a product on a mesh. A is cut into mesh rows and steps, B into steps and mesh columns, C into mesh rows and
// mesh columns.
type tiles struct{ a, b, c cpe.Tile }

func newTiles(spec *cpe.Spec, p Plan) tiles {
	return tiles{
		a: cpe.Tile{RowParts: spec.Rows, ColParts: p.Steps, Layout: cpe.Layout{Panel: p.MR, ByRows: true}, Double: p.Double, Sent: true},
		b: cpe.Tile{RowParts: p.Steps, ColParts: spec.Cols, Layout: cpe.Layout{Panel: p.NR}, Double: p.Double, Sent: true},
		c: cpe.Tile{RowParts: spec.Rows, ColParts: spec.Cols, PadRows: p.MR, PadCols: p.NR, Double: p.Chained},
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
	return spec.Bytes(ldm)
}

// Check returns an error if an extent is negative.
func (s Shape) Check() error {
	return tiling.Check(s, tiling.Bound{Name: "M", N: s.M, Least: 0}, tiling.Bound{Name: "N", N: s.N, Least: 0}, tiling.Bound{Name: "K", N: s.K, Least: 0})
}
