// Package gemm multiplies matrices: C (M x N) = op(A) (M x K) * op(B) (K x N), where op may transpose.
//
// A [Kernel] is planned for one [Shape] and runs any number of times, without allocating. [New] takes the first algorithm of an ordered list
// that supports the shape on the machine; Kernel.Algorithm names it. Most of the list are forms of [Blocked], which cuts C among the core
// groups and runs on each a [Nest]: loops over blocks of M, N and K, as in BLIS (Van Zee and van de Geijn 2015), with the micro-kernels of
// internal/simd innermost. On a modelled machine the same loops move blocks by DMA and multiply them on the CPE mesh with register
// communication (swCaffe, section IV-A). The others serve the host where one operand is so small that packing and blocking cost more than
// they save.
//
// What a Nest multiplies are views (cpe.View): a matrix or its transpose ([Operand]), or whatever else can pack a block into panels, as the
// column matrix of images can (package im2col). Convolutions therefore use [Nest], [Job] and [Split] themselves, and [Resident] where several
// blocks of C stay in LDM.
//
// Every element of C is summed over K in one order that the shape and the machine alone decide. It does not depend on the number of core
// groups of the host: results are bit-equal at any GOMAXPROCS.
package gemm

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// Kernel multiplies matrices of one shape.
type Kernel interface {
	// Run computes C = op(A)*op(B), or adds to C for a Shape that accumulates. bias, if not nil, has N values that are added to every row of
	// C; it excludes Accumulate.
	Run(a, b, bias, c []float32) error
	// Scratch returns how many values of the machine's scratch Run takes.
	Scratch() int
	// Algorithm names how it multiplies.
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
