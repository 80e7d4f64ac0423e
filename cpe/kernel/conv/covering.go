package conv

import (
	"slices"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/gemm"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// covers reports whether kernels are as large as images. Each result is then one inner product, as in convolutions made from fully connected
// layers.
func covers(s *shape.Conv) bool {
	return s.Group == 1 && tiling.Size(s.Kernel) > 1 && slices.Equal(s.Kernel, s.In) && tiling.Size(s.OutSize()) == 1 && slices.Max(s.Pad) == 0 && s.N > 0
}

// covering computes a direction as one matrix product whose matrices have images, results or kernels as rows:
//
//	forward          Y (N x Out) = X (N x depth) * W' (depth x Out) + bias
//	weight gradient  dW (Out x depth) += dY' (Out x N) * X (N x depth)
//	input gradient   dX (N x depth) = dY (N x Out) * W (Out x depth)
type covering struct {
	direction shape.Direction
	product   gemm.Kernel
}

func newCovering(m *cpe.Machine, p *Problem) (*covering, error) {
	n, out, depth := p.Shape.N, p.Shape.Out, p.Shape.Depth()
	product, err := gemm.New(m, [...]gemm.Shape{
		shape.Forward:        {M: n, N: out, K: depth, TransB: true},
		shape.WeightGradient: {M: out, N: depth, K: n, TransA: true, Accumulate: true},
		shape.InputGradient:  {M: n, N: depth, K: out},
	}[p.Direction])
	return &covering{p.Direction, product}, err
}

// inside returns the name of the GEMM algorithm.
func (c *covering) inside() shape.Algorithm { return c.product.Algorithm() }

// Scratch returns the scratch memory of the product.
func (c *covering) Scratch() int { return c.product.Scratch() }

// Run computes the product.
func (c *covering) Run(a Arrays) error {
	switch c.direction {
	case shape.Forward:
		return c.product.Run(a.X, a.W, a.Bias, a.Y)
	case shape.InputGradient:
		return c.product.Run(a.DY, a.W, nil, a.DX)
	default:
		return c.product.Run(a.DY, a.X, nil, a.DW)
	}
}
