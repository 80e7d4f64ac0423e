package gemm

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/internal/base/simd/vgemm"
)

// narrows reports whether Narrow computes a product: op(B) is a transpose of so few rows that they would leave most of a panel of
// columns empty, such as the weights of a classifier's last layer.
func (s *Shape) narrows(*cpe.Spec) bool {
	mr, nr := vgemm.Tile()
	return vgemm.HasStrided() && !s.TransA && s.TransB && !s.Accumulate && s.N > 0 && s.N <= mr && s.M > nr && s.K >= nr
}

// narrow computes the transpose of C one panel at a time, for a product with the transpose of a matrix of few rows:
//
//	C (M x N) = (B * A')', B (N x K), A (M x K)
//
// A core group packs a panel of A's rows, multiplies the rows of B, read in place, by the panel, block by block of K, and transposes the
// sums. Every element is summed over K in the same order as in Blocked.
type narrow struct {
	machine *cpe.Machine
	shape   Shape
	depth   int // K of a block
	scratch cpe.Scratch
	operands
}

func newNarrow(m *cpe.Machine, s Shape) (Kernel, error) {
	mr, nr := vgemm.Tile()
	n := &narrow{machine: m, shape: s, depth: tiling.Even(s.K, hostDepth, 1)}
	n.scratch.Group = nr*s.N + (nr+mr)*n.depth
	return n, nil
}

// Algorithm returns Narrow.
func (n *narrow) Algorithm() shape.Algorithm { return Narrow }

// Scratch counts a panel, its sums, and packed rows at the end of B.
func (n *narrow) Scratch() int { return n.machine.Needs(n.scratch) }

// Run computes the product; see Kernel.
func (n *narrow) Run(a, b, bias, c []float32) error {
	n.operands = operands{a, b, bias, c}
	n.machine.TakeScratch(n.scratch)
	s := &n.shape
	return n.machine.Run(n, n.machine.GroupsFor(2*s.M*s.N*s.K, smallGemm))
}

// Name names the product.
func (n *narrow) Name() string { return "narrow gemm " + n.shape.String() }

// RunGroup computes a core group's rows of C.
func (n *narrow) RunGroup(g *cpe.CoreGroup) error {
	_, nr := vgemm.Tile()
	s := &n.shape
	sums, rest := g.Memory(n.scratch.Group)[:nr*s.N], g.Memory(n.scratch.Group)[nr*s.N:]
	panel, edge := rest[:nr*n.depth], rest[nr*n.depth:]
	left, right := Operand{Matrix: cpe.Plain(n.a, s.K)}, Operand{Matrix: cpe.Plain(n.b, s.K)}
	lo, hi := tiling.Share(g, s.M, nr)
	for row := lo; row < hi; row += nr {
		m := min(nr, hi-row)
		if n.bias != nil {
			for j, v := range n.bias[:s.N] {
				vec.Fill(sums[j*nr:(j+1)*nr], v)
			}
		}
		for k := 0; k < s.K; k += n.depth {
			deep := min(n.depth, s.K-k)
			left.Gather(panel, cpe.Layout{Panel: nr, ByRows: true}, row, k, m, deep)
			rows, down, along := right.Strided(edge, 0, s.N, k, deep)
			vgemm.StridedPanel(s.N, nr, deep, rows, down, along, panel, nr, sums, nr, k > 0 || n.bias != nil)
		}
		vec.Transpose(n.c[row*s.N:], sums, s.N, nr, s.N, m)
	}
	return nil
}
