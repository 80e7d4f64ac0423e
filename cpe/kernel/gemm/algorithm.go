package gemm

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// The names of the algorithms.
const (
	// Mesh multiplies blocks on the CPE mesh of a modelled machine.
	Mesh shape.Algorithm = "gemm-mesh"
	// MeshSums is Mesh where core groups share the sums.
	MeshSums shape.Algorithm = "gemm-mesh-sums"
	// Packed packs blocks of both operands; core groups have equal parts of the result.
	Packed shape.Algorithm = "gemm-packed"
	// Pieces is Packed, or PackedRight, where cores take pieces of the result as they get ready.
	Pieces shape.Algorithm = "gemm-pieces"
	// PackedRight packs the right operand alone.
	PackedRight shape.Algorithm = "gemm-packed-right"
	// Streamed packs long blocks of a right operand that passes from memory once.
	Streamed shape.Algorithm = "gemm-streamed"
	// Unpacked reads both operands where they lie: they are small.
	Unpacked shape.Algorithm = "gemm-unpacked"
	// Skinny goes through the one large matrix once: another has one or two rows.
	Skinny shape.Algorithm = "gemm-skinny"
	// RowSums is a skinny product whose large matrix is cut into parts of rows, summed apart.
	RowSums shape.Algorithm = "gemm-row-sums"
	// Turned computes the transpose: the left operand has few rows, and the right one, transposed, is large.
	Turned shape.Algorithm = "gemm-turned"
	// Narrow computes the transpose panel by panel: the result has few columns.
	Narrow shape.Algorithm = "gemm-narrow"
)

// algorithm is one way to multiply.
type algorithm struct {
	name     shape.Algorithm
	supports func(*Shape, *cpe.Spec) bool
	plan     func(*cpe.Machine, Shape) (Kernel, error)
}

// algorithms in the order in which New asks them: those that read a large operand once, then those of Blocked.
var algorithms = append([]algorithm{
	{RowSums, (*Shape).sumsRows, newRowSums},
	{Turned, (*Shape).turns, newTurned},
	{Narrow, (*Shape).narrows, newNarrow},
}, blockedAlgorithms...)

// blockedAlgorithms in the order in which NewBlocked asks them. The last supports every product.
var blockedAlgorithms = []algorithm{
	blocked(MeshSums, (*Shape).sharesSums),
	blocked(Mesh, (*Shape).onMesh),
	blocked(Skinny, (*Shape).skinny),
	blocked(Unpacked, (*Shape).unpacked),
	blocked(Streamed, (*Shape).streams),
	blocked(Pieces, (*Shape).inPieces),
	blocked(PackedRight, (*Shape).leftInPlace),
	blocked(Packed, (*Shape).any),
}

// blocked is an algorithm of Blocked.
func blocked(name shape.Algorithm, supports func(*Shape, *cpe.Spec) bool) algorithm {
	return algorithm{name, supports, func(m *cpe.Machine, s Shape) (Kernel, error) { return planBlocked(m, s, name) }}
}

// choose returns the first algorithm of a list that supports a product.
func choose(list []algorithm, s *Shape, spec *cpe.Spec) *algorithm {
	for i := range list {
		if list[i].supports(s, spec) {
			return &list[i]
		}
	}
	panic("gemm: no algorithm for " + s.String())
}

// onMesh reports whether a modelled machine multiplies.
func (s *Shape) onMesh(spec *cpe.Spec) bool { return !spec.Native() }

// any supports every product.
func (s *Shape) any(*cpe.Spec) bool { return true }
