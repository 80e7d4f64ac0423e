package gemm

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// Kernel computes C (M x N) = op(A) * op(B), as Gemm.Run does.
type Kernel interface {
	Run(a, b, bias, c []float32) error
	// Scratch is how many values of scratch it takes of the machine.
	Scratch() int
	// Algorithm names how it multiplies.
	Algorithm() shape.Algorithm
}

// Algorithm is RowSums.
func (r *rowSums) Algorithm() shape.Algorithm { return RowSums }

// Algorithm is Turned.
func (t *turned) Algorithm() shape.Algorithm { return Turned }

// Algorithm is Narrow.
func (n *narrow) Algorithm() shape.Algorithm { return Narrow }

// Scratch is 0: what a Gemm works in is its core groups' own.
func (g *Blocked) Scratch() int { return 0 }

// Scratch is 0: sums of rows take little.
func (r *rowSums) Scratch() int { return 0 }

// New plans a product: a Gemm, or what is faster on the host where C has few rows and B is large, or C has few columns.
func New(m *cpe.Machine, s Shape) (Kernel, error) {
	if err := s.Check(); err != nil {
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
	return NewBlocked(m, s)
}
