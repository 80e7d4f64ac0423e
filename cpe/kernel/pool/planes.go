package pool

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/pages"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
	"github.com/swcaffe/swcaffe/internal/simd/vpool"
)

// preparePlanes prepares what the host does plane by plane: means of whole planes, the windows that have vector kernels, and others down
// their columns.
func (p *Kernel) preparePlanes() {
	s := &p.shape
	if !p.machine.Native() {
		return
	}
	if p.global = s.global(); p.global || s.Method == Stochastic || !s.Meets() {
		return
	}
	if s.KH == s.KW && s.SH == s.SW {
		p.planes = vpool.NewPlanes(vpool.Shape{H: s.H, W: s.W, OH: s.OH, OW: s.OW, K: s.KH, S: s.SH, Top: s.PH, Left: s.PW})
	}
	if p.planes == nil {
		p.prepareColumns()
		return
	}
	spec := p.machine.Spec()
	room := spec.CoreGroups * s.OH * s.OW
	switch {
	case s.Method == Ave:
		p.shares = pages.Make[float32](room)
	case s.Packed && p.planes.Packs():
		p.packed, p.indices = true, pages.Make[int32](room)
	}
}

// global reports whether an output is the mean of its plane.
func (s *Shape) global() bool {
	return s.Method == Ave && s.OH*s.OW == 1 && s.PH+s.PW == 0 && s.KH >= s.H && s.KW >= s.W
}

// Meets reports whether every window meets the image.
func (s *Shape) Meets() bool {
	return s.PH < s.KH && s.PW < s.KW && (s.OH-1)*s.SH-s.PH < s.H && (s.OW-1)*s.SW-s.PW < s.W
}

// runPlanes does a core group's share of the planes.
func (p *Kernel) runPlanes(g *cpe.CoreGroup) error {
	s := &p.shape
	in, out := s.H*s.W, s.OH*s.OW
	lo, hi := g.Share(s.N * s.C)
	for n := lo; n < hi; n++ {
		x, y := p.x[n*in:(n+1)*in], p.y[n*out:(n+1)*out]
		switch {
		case p.global && p.backward:
			vec.Fill(x, y[0]/float32(in))
		case p.global:
			y[0] = float32(vec.Sum(x) / float64(in))
		case s.Method == Ave && p.backward:
			p.planes.AverageGrad(x, y, p.shares[g.Index()*out:(g.Index()+1)*out])
		case s.Method == Ave:
			p.planes.Average(y, x)
		case p.backward:
			p.planes.MaxGrad(x, y, p.Taken(g, n))
		default:
			p.MaxPlane(g, n, y, x)
		}
	}
	return nil
}

// MaxPlane pools plane n.
func (p *Kernel) MaxPlane(g *cpe.CoreGroup, n int, y, x []float32) {
	index := p.indicesOf(g, n)
	p.planes.Max(y, index, x)
	switch {
	case p.packed:
		p.planes.PackPlaces(p.codesOf(n), index, y, p.shape.ReLU)
	case p.shape.ReLU:
		rectify(y, index)
	}
}

// Taken returns which inputs the outputs of plane n took.
func (p *Kernel) Taken(g *cpe.CoreGroup, n int) []int32 {
	index := p.indicesOf(g, n)
	if p.packed {
		p.planes.UnpackPlaces(index, p.codesOf(n))
	}
	return index
}

// indicesOf is where the indices of plane n stand: in the mask or, if that is packed, in a core group's room.
func (p *Kernel) indicesOf(g *cpe.CoreGroup, n int) []int32 {
	out := p.shape.OH * p.shape.OW
	if p.packed {
		return p.indices[g.Index()*out : (g.Index()+1)*out]
	}
	return p.mask[n*out : (n+1)*out]
}

// codesOf is the packed mask of plane n: the mask's words hold a byte an output.
func (p *Kernel) codesOf(n int) []uint8 {
	out := p.shape.OH * p.shape.OW
	return p.maskBytes()[n*out : (n+1)*out]
}
