// Package gemm multiplies matrices: C (M x N) = op(A) (M x K) * op(B) (K x N), where op may transpose.
//
// A [Kernel] is planned for one [Shape] and runs any number of times without allocating. [New] takes, of the algorithms in a list that support the
// shape on the machine (algorithm.go), the one of least cost (cost.go); Kernel.Algorithm names it. Each has a file with its kernel and the products it
// supports.
//
// Most algorithms are forms of [Blocked], which divides C among the core groups and runs a [Nest] on each. A Nest is the loops of BLIS over
// blocks of M, N and K (Van Zee and van de Geijn 2015) around the micro-kernels of internal/base/simd. On a modelled machine the same loops move
// blocks by DMA and multiply them on the CPE mesh with register communication (swCaffe, section IV-A). The other algorithms are for products
// in main memory with one operand so small that packing and blocking cost more than they save.
//
// The operands of a Nest are views (cpe.View): a matrix or its transpose ([Operand]), or anything else that can pack a block into panels,
// such as the column matrix of images (package im2col). Convolutions use [Nest], [Job] and [Split] directly, and [Resident] to keep several
// blocks of C in LDM.
//
// Every element of C is summed over K in one order, which depends only on the shape and the machine, not on the number of this computer's
// cores: results are bit-equal at any GOMAXPROCS.
package gemm

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/quant"
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
	return plan(&algorithms, m, problem(m, s, false))
}

// NewInference plans a product of a net for inference, whose sums may differ from training's by rounding.
func NewInference(m *cpe.Machine, s Shape) (Kernel, error) {
	return plan(&algorithms, m, problem(m, s, true))
}

// NewIn plans a product in number types other than those that the machine's user permits. scales are those of A and of the columns of B, with op.Quantised.
func NewIn(m *cpe.Machine, s Shape, inference bool, t op.Types, scales *quant.Scales) (Kernel, error) {
	return plan(&algorithms, m, problemIn(m, s, inference, t, scales))
}

// problemIn is problem in number types. A product without factors is the same in all.
func problemIn(m *cpe.Machine, s Shape, inference bool, t op.Types, scales *quant.Scales) *Problem {
	p := problem(m, s, inference)
	if p.Types, p.Scales = t, scales; min(s.M, s.N, s.K) == 0 {
		p.Types = op.Types{}
	}
	return p
}
