package gemm

import "github.com/swcaffe/swcaffe/cpe/kernel/shape"

// Matrix products.
const (
	// Mesh multiplies blocks on the CPE mesh of a modelled machine.
	Mesh shape.Algorithm = "gemm-mesh"
	// MeshSums is gemm.Mesh where core groups share the sums.
	MeshSums shape.Algorithm = "gemm-mesh-sums"
	// Packed packs blocks of both operands; core groups have equal parts of the result.
	Packed shape.Algorithm = "gemm-packed"
	// Pieces is gemm.Packed, or gemm.PackedRight, where cores take pieces of the result as they get ready.
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
