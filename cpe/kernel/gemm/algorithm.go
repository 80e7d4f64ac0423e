package gemm

import (
	"slices"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// The names of the algorithms.
const (
	// Mesh multiplies blocks on the CPE mesh of a modelled machine; core groups share C.
	Mesh shape.Algorithm = "gemm-mesh"
	// MeshSums is Mesh with the sum over K shared among core groups.
	MeshSums shape.Algorithm = "gemm-mesh-sums"
	// Packed packs blocks of both operands; each core group computes a fixed part of C.
	Packed shape.Algorithm = "gemm-packed"
	// Pieces is Packed or PackedRight with dynamic scheduling: cores claim pieces of C one after the other.
	Pieces shape.Algorithm = "gemm-pieces"
	// PackedRight packs only the right operand.
	PackedRight shape.Algorithm = "gemm-packed-right"
	// Streamed packs long blocks of a large right operand, which is read from memory once.
	Streamed shape.Algorithm = "gemm-streamed"
	// Unpacked reads both operands in place, for small operands.
	Unpacked shape.Algorithm = "gemm-unpacked"
	// Skinny reads one large matrix once, in place; the other operand has one or two rows.
	Skinny shape.Algorithm = "gemm-skinny"
	// RowSums is a skinny product that sums fixed parts of the large matrix's rows separately.
	RowSums shape.Algorithm = "gemm-row-sums"
	// Turned computes C' = B*A': A has few rows, and the large right operand, which is transposed, is read in place.
	Turned shape.Algorithm = "gemm-turned"
	// Narrow computes C' one panel at a time, for a C of few columns.
	Narrow shape.Algorithm = "gemm-narrow"
)

// algorithm is one way to compute a product.
type algorithm struct {
	name     shape.Algorithm
	supports func(*Shape, *cpe.Spec) bool
	plan     func(*cpe.Machine, Shape) (Kernel, error)
}

// The algorithms in the order in which they are asked. Mesh supports every product whose operands come by DMA, so that the algorithms after
// it are asked only where operands are in main memory. Among these, the ones that read a large operand once come first, then those of Blocked.
// Packed supports every product.
var (
	algorithms        = slices.Concat(onMesh, readOnce, inBlocks) // of New
	blockedAlgorithms = slices.Concat(onMesh, inBlocks)           // of NewBlocked

	onMesh = []algorithm{
		blocked(MeshSums, (*Shape).sharesSums),
		blocked(Mesh, (*Shape).byDMA),
	}
	readOnce = []algorithm{
		{RowSums, (*Shape).sumsRows, newRowSums},
		{Turned, (*Shape).turns, newTurned},
		{Narrow, (*Shape).narrows, newNarrow},
	}
	inBlocks = []algorithm{
		blocked(Skinny, (*Shape).skinny),
		blocked(Unpacked, (*Shape).unpacked),
		blocked(Streamed, (*Shape).streams),
		blocked(Pieces, (*Shape).inPieces),
		blocked(PackedRight, (*Shape).leftInPlace),
		blocked(Packed, (*Shape).any),
	}
)

// blocked returns an algorithm that is a form of Blocked.
func blocked(name shape.Algorithm, supports func(*Shape, *cpe.Spec) bool) algorithm {
	return algorithm{name, supports, func(m *cpe.Machine, s Shape) (Kernel, error) { return planBlocked(m, s, name) }}
}

// choose returns the first algorithm of a list that supports a product.
func choose(list []algorithm, s *Shape, spec *cpe.Spec) *algorithm {
	for i := range list {
		if !spec.LeavesOut(string(list[i].name)) && list[i].supports(s, spec) {
			return &list[i]
		}
	}
	panic("gemm: no algorithm for " + s.String())
}

// Optional lists the algorithms that cpe.Spec.WithoutAlgorithms may leave out: all but those that compute what no other does.
func Optional() (names []string) {
	for _, a := range algorithms {
		if a.name != Packed && a.name != Mesh {
			names = append(names, string(a.name))
		}
	}
	return names
}

// byDMA reports whether blocks of the operands come by DMA.
func (s *Shape) byDMA(spec *cpe.Spec) bool { return spec.HasDMA() }

// any supports every product.
func (s *Shape) any(*cpe.Spec) bool { return true }
