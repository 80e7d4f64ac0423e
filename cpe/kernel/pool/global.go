package pool

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// global reports whether an output is the mean of its plane.
func (s *Shape) global(*cpe.Spec, shape.Direction) bool {
	return s.Method == Ave && s.OH*s.OW == 1 && s.PH+s.PW == 0 && s.KH >= s.H && s.KW >= s.W
}

// runGlobal computes the means, or their gradients, of a core group's share of the planes.
func (p *Kernel) runGlobal(g *cpe.CoreGroup) error {
	s := &p.shape
	in := s.H * s.W
	lo, hi := g.Share(s.N * s.C)
	for n := lo; n < hi; n++ {
		if x := p.x[n*in : (n+1)*in]; p.backward {
			vec.Fill(x, p.y[n]/float32(in))
		} else {
			p.y[n] = float32(vec.Sum(x) / float64(in))
		}
	}
	return nil
}
