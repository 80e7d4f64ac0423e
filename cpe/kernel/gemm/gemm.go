// Package gemm multiplies matrices: C (M x N) = op(A) (M x K) * op(B) (K x N), where op may transpose.
//
// A [Kernel] is planned for one [Shape] and can then run any number of times, without allocating. [New] chooses the first algorithm of an
// ordered list that supports the shape on the machine; Kernel.Algorithm names it.
//
// Most algorithms are forms of [Blocked], which divides C among the core groups and runs a [Nest] on each: loops over blocks of M, N and K,
// as in BLIS (Van Zee and van de Geijn 2015), around the micro-kernels of internal/simd. On a modelled machine the same loops move blocks by
// DMA and multiply them on the CPE mesh with register communication (swCaffe, section IV-A). The other algorithms run on the host, where one
// operand is so small that packing and blocking cost more than they save.
//
// The operands of a Nest are views (cpe.View): a matrix or its transpose ([Operand]), or anything else that can pack a block into panels,
// such as the column matrix of images (package im2col). Convolutions therefore use [Nest], [Job] and [Split] directly. They use [Resident]
// where several blocks of C stay in LDM.
//
// Every element of C is summed over K in one order, which depends only on the shape and the machine. It does not depend on the number of the
// host's core groups: results are bit-equal at any GOMAXPROCS.
package gemm

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// Kernel multiplies matrices of one shape.
type Kernel interface {
	// Run computes C = op(A)*op(B), or adds the product to C if the Shape accumulates. bias, if not nil, has N values that are added to every
	// row of C; it excludes Accumulate.
	Run(a, b, bias, c []float32) error
	// Scratch returns the number of values of the machine's scratch memory that Run uses.
	Scratch() int
	// Algorithm names the algorithm of the product.
	Algorithm() shape.Algorithm
}

// New plans a product.
func New(m *cpe.Machine, s Shape) (Kernel, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	spec := m.Spec()
	return choose(algorithms, &s, &spec).plan(m, s)
}
