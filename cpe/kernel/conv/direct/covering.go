package direct

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/gemm"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// Covering is the algorithm covering.
var Covering = conv.Algorithm{
	Name: "covering", Doc: "one GEMM, for kernels as large as the image", Family: shape.Implicit,
	Directions: conv.EveryDirection,
	Supports: func(p *conv.Problem) error {
		return op.FirstReason(op.OnHost(p), conv.InPlanes(p), op.Unless(conv.CoversImage(&p.Shape), "kernels of %v are not as large as images of %v, or there is padding or more than one group", p.Shape.Kernel, p.Shape.In))
	},
	Cost:    conv.ProductCost,
	Kernel:  func(m *cpe.Machine, p *conv.Problem) (conv.Kernel, error) { return newCovering(m, p) },
	Special: true,
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

func newCovering(m *cpe.Machine, p *conv.Problem) (*covering, error) {
	n, out, depth := p.Shape.N, p.Shape.Out, p.Shape.Depth()
	product, err := gemm.New(m, [...]gemm.Shape{
		shape.Forward:        {M: n, N: out, K: depth, TransB: true},
		shape.WeightGradient: {M: out, N: depth, K: n, TransA: true, Accumulate: true},
		shape.InputGradient:  {M: n, N: depth, K: out},
	}[p.Direction])
	return &covering{p.Direction, product}, err
}

// Inner returns the name of the GEMM algorithm.
func (c *covering) Inner() shape.Algorithm { return c.product.Algorithm() }

// Scratch returns the scratch memory of the product.
func (c *covering) Scratch() int { return c.product.Scratch() }

// Run computes the product.
func (c *covering) Run(a conv.Arrays) error {
	switch c.direction {
	case shape.Forward:
		return c.product.Run(a.X, a.W, a.Bias, a.Y)
	case shape.InputGradient:
		return c.product.Run(a.DY, a.W, nil, a.DX)
	default:
		return c.product.Run(a.DY, a.X, nil, a.DW)
	}
}
