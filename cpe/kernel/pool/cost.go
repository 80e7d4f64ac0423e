package pool

import "github.com/swcaffe/swcaffe/cpe/kernel/shape"

// The costs of the algorithms on the host, in operations of the GEMM micro-kernel, as gemm's. They were fitted to the times in testdata/costs.txt, which
// TestCosts measures.
const (
	valueWork  = 200 // for a value of a window, one by one
	vectorWork = 45  // the same in vectors of windows or of columns
	kernelWork = 10  // the same in a kernel made for the window, or in the sum of a plane
)

// cost is the work on values of each plane.
func (s *Shape) cost(values int, work float64) float64 { return work * float64(s.N*s.C*values) }

func globalCost(p *Problem) float64 { return p.Shape.cost(p.Shape.H*p.Shape.W, kernelWork) }

// planesCost is the cost of windows, and in the gradient of maxima of the values that they took.
func planesCost(p *Problem) float64 {
	s := &p.Shape
	if s.Method == Max && p.Direction != shape.Forward {
		return s.cost(s.OH*s.OW, vectorWork)
	}
	return s.cost(s.OH*s.OW*s.KH*s.KW, kernelWork)
}

// columnsCost is the cost of sums down and along.
func columnsCost(p *Problem) float64 {
	s := &p.Shape
	return s.cost(s.OH*(s.KH*s.W+s.KW*s.OW), vectorWork)
}

// tilesCost is the cost of all windows; in the gradient of maxima, of a value of each. There are vectors of windows for strides of 1 and 2.
func tilesCost(p *Problem) float64 {
	s := &p.Shape
	switch {
	case s.Method == Max && p.Direction != shape.Forward:
		return s.cost(s.OH*s.OW, valueWork)
	case s.Method != Stochastic && s.SW <= 2 && s.OW > 1:
		return s.cost(s.OH*s.OW*s.KH*s.KW, vectorWork)
	}
	return s.cost(s.OH*s.OW*s.KH*s.KW, valueWork)
}
