package gemm

import (
	"slices"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// The names of the algorithms. Each is in a file of its own, with the products that it supports.
const (
	// Mesh multiplies blocks on the CPE mesh of a modelled machine; core groups share C.
	Mesh shape.Algorithm = "gemm-mesh"
	// MeshSums is Mesh with the sum over K shared among core groups.
	MeshSums shape.Algorithm = "gemm-mesh-sums"
	// RowSums is Skinny with fixed parts of the large matrix's rows summed separately.
	RowSums shape.Algorithm = "gemm-row-sums"
	// Transposed computes the transpose of C, for an A of few rows. The large right operand, which is transposed, is read in place.
	Transposed shape.Algorithm = "gemm-transposed"
	// Narrow computes the transpose of C, a panel at a time, for a C of few columns.
	Narrow shape.Algorithm = "gemm-narrow"
	// Skinny reads one large matrix once, in place; the other operand has one or two rows.
	Skinny shape.Algorithm = "gemm-skinny"
	// Unpacked reads both operands in place, for small operands.
	Unpacked shape.Algorithm = "gemm-unpacked"
	// Streamed packs long blocks of a large right operand, which is read from memory once.
	Streamed shape.Algorithm = "gemm-streamed"
	// Dynamic is Packed or PackedRight with dynamic scheduling: cores claim panels of columns of C, some at a time.
	Dynamic shape.Algorithm = "gemm-dynamic"
	// PackedRight packs only the right operand.
	PackedRight shape.Algorithm = "gemm-packed-right"
	// Packed packs blocks of both operands; each core group computes a fixed part of C.
	Packed shape.Algorithm = "gemm-packed"
)

// algorithm is one way to compute a product.
type algorithm struct {
	name     shape.Algorithm
	supports func(*Shape, *cpe.Spec) bool
	plan     func(*cpe.Machine, Shape) (Kernel, error)
	blocked  func(*cpe.Machine, Shape) (*Blocked, error) // plan, for a form of Blocked
}

// The algorithms in the order in which they are asked. Mesh supports every product whose operands come by DMA, so that the algorithms after
// it are asked only if operands are in main memory. Among these, the ones that read a large operand once come first, then those of Blocked.
// Packed supports every product.
var (
	algorithms        = slices.Concat(onMesh, readOnce, inBlocks) // of New
	blockedAlgorithms = slices.Concat(onMesh, inBlocks)           // of NewBlocked

	onMesh = []algorithm{
		blocked(MeshSums, (*Shape).sharesSums, newMeshSums),
		blocked(Mesh, (*Shape).byDMA, newMesh),
	}
	readOnce = []algorithm{
		{RowSums, (*Shape).sumsRows, newRowSums, nil},
		{Transposed, (*Shape).transposes, newTransposed, nil},
		{Narrow, (*Shape).narrows, newNarrow, nil},
	}
	inBlocks = []algorithm{
		blocked(Skinny, (*Shape).skinny, newSkinny),
		blocked(Unpacked, (*Shape).unpacked, newUnpacked),
		blocked(Streamed, (*Shape).streams, newStreamed),
		blocked(Dynamic, (*Shape).schedules, newDynamic),
		blocked(PackedRight, (*Shape).leftInPlace, newPackedRight),
		blocked(Packed, (*Shape).any, newPacked),
	}
)

// blocked returns an algorithm that is a form of Blocked.
func blocked(name shape.Algorithm, supports func(*Shape, *cpe.Spec) bool, plan func(*cpe.Machine, Shape) (*Blocked, error)) algorithm {
	return algorithm{name, supports, func(m *cpe.Machine, s Shape) (Kernel, error) { return plan(m, s) }, plan}
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
