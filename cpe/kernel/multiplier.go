package kernel

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// Multiplier computes C (M x N) = op(A) * op(B), as Gemm.Run does.
type Multiplier interface {
	Run(a, b, bias, c []float32) error
	// Scratch is how many values of scratch it takes of the machine.
	Scratch() int
	// Algorithm names how it multiplies.
	Algorithm() shape.Algorithm
}

// Algorithm is GemmRowSums.
func (r *rowSums) Algorithm() shape.Algorithm { return GemmRowSums }

// Algorithm is GemmTurned.
func (t *turned) Algorithm() shape.Algorithm { return GemmTurned }

// Algorithm is GemmNarrow.
func (n *narrow) Algorithm() shape.Algorithm { return GemmNarrow }

// Scratch is 0: what a Gemm works in is its core groups' own.
func (g *Gemm) Scratch() int { return 0 }

// Scratch is 0: sums of rows take little.
func (r *rowSums) Scratch() int { return 0 }

// NewMultiplier plans a product: a Gemm, or what is faster on the host where C has few rows and B is large, or C has few columns.
func NewMultiplier(m *cpe.Machine, s GemmShape) (Multiplier, error) {
	if err := s.valid(); err != nil {
		return nil, err
	}
	spec := m.Spec()
	switch {
	case s.sumsRows(&spec):
		return newRowSums(m, s), nil
	case s.turns(&spec):
		return newTurned(m, s), nil
	case s.narrows(&spec):
		return newNarrow(m, s), nil
	}
	return NewGemm(m, s)
}
