package kernel

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/simd"
)

// preparePlanes prepares the vector kernels of whole planes, which the host uses for the windows that they exist for.
func (p *Pool) preparePlanes() {
	s := &p.shape
	if !p.machine.Native() || s.KH != s.KW || s.SH != s.SW || s.Method == PoolStochastic || !s.meets() {
		return
	}
	p.planes = simd.NewPlanes(simd.PoolShape{H: s.H, W: s.W, OH: s.OH, OW: s.OW, K: s.KH, S: s.SH, Top: s.PH, Left: s.PW})
	if p.planes != nil && s.Method == PoolAve {
		spec := p.machine.Spec()
		p.shares = make([]float32, spec.CoreGroups*s.OH*s.OW)
	}
}

// meets reports whether every window meets the image.
func (s *PoolShape) meets() bool {
	return s.PH < s.KH && s.PW < s.KW && (s.OH-1)*s.SH-s.PH < s.H && (s.OW-1)*s.SW-s.PW < s.W
}

// runPlanes does a core group's share of the planes.
func (p *Pool) runPlanes(g *cpe.CoreGroup) {
	s := &p.shape
	in, out := s.H*s.W, s.OH*s.OW
	lo, hi := g.Share(s.N * s.C)
	for n := lo; n < hi; n++ {
		x, y := p.x[n*in:(n+1)*in], p.y[n*out:(n+1)*out]
		switch {
		case s.Method == PoolAve && p.backward:
			p.planes.AverageGrad(x, y, p.shares[g.Index()*out:(g.Index()+1)*out])
		case s.Method == PoolAve:
			p.planes.Average(y, x)
		case p.backward:
			p.planes.MaxGrad(x, y, p.mask[n*out:(n+1)*out])
		default:
			p.planes.Max(y, p.mask[n*out:(n+1)*out], x)
		}
	}
}
