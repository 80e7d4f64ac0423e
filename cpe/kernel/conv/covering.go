package conv

import (
	"slices"

	"github.com/swcaffe/swcaffe/cpe/kernel/gemm"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// covers reports whether kernels are as large as images: results are inner products of both, as of layers that were fully connected before.
func covers(s *shape.Conv) bool {
	return s.Group == 1 && tiling.Size(s.Kernel) > 1 && slices.Equal(s.Kernel, s.In) && tiling.Size(s.OutSize()) == 1 && slices.Max(s.Pad) == 0 && s.N > 0
}

// covers reports whether a direction is computed as a product of matrices whose rows are images, results and kernels.
func (c *Conv) covers(d shape.Direction) bool {
	return c.machine.Native() && c.plan.Strategy[d] == shape.Implicit && covers(&c.shape)
}

// newCovering plans the product of a direction:
//
//	forward          Y (N x Out) = X (N x depth) * W' (depth x Out) + bias
//	weight gradient  dW (Out x depth) += dY' (Out x N) * X (N x depth)
//	input gradient   dX (N x depth) = dY (N x Out) * W (Out x depth)
func (c *Conv) newCovering(d shape.Direction) (gemm.Kernel, error) {
	s := &c.shape
	switch n, out, depth := s.N, s.Out, s.Depth(); d {
	case shape.Forward:
		return gemm.New(c.machine, gemm.Shape{M: n, N: out, K: depth, TransB: true})
	case shape.InputGradient:
		return gemm.New(c.machine, gemm.Shape{M: n, N: depth, K: out})
	default:
		return gemm.New(c.machine, gemm.Shape{M: out, N: depth, K: n, TransA: true, Accumulate: true})
	}
}

// runCovering computes a direction so.
func (c *Conv) runCovering(d shape.Direction, args convArrays) error {
	switch d {
	case shape.Forward:
		return c.covering[d].Run(args.x, args.w, args.bias, args.y)
	case shape.InputGradient:
		return c.covering[d].Run(args.y, args.w, nil, args.x)
	default:
		return c.covering[d].Run(args.y, args.x, nil, args.w)
	}
}
