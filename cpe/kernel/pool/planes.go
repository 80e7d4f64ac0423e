package pool

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/internal/base/simd/vpool"
)

// planePool has vector kernels for the window's extent and stride, which pool whole planes.
type planePool struct {
	kernel  *vpool.Planes
	sized   []float32 // buffer of each core group: gradients of a plane's means over their windows' sizes
	packed  bool      // the mask has a byte for each output: the place in its window of the input that it took
	indices []int32   // buffer of each core group: a plane's unpacked mask
}

// byPlanes reports whether there are kernels for the window.
func (s *Shape) byPlanes(*cpe.Spec, shape.Direction) bool {
	return s.Method != Stochastic && s.Meets() && s.planeKernel() != nil
}

// planeKernel returns the kernel for the window, nil if there is none.
func (s *Shape) planeKernel() *vpool.Planes {
	if s.KH != s.KW || s.SH != s.SW {
		return nil
	}
	return vpool.NewPlanes(vpool.Shape{H: s.H, W: s.W, OH: s.OH, OW: s.OW, K: s.KH, S: s.SH, Top: s.PH, Left: s.PW})
}

// preparePlanes prepares pooling by planes.
func (p *Kernel) preparePlanes() error {
	s, spec := &p.shape, p.machine.Spec()
	p.planes = &planePool{kernel: s.planeKernel()}
	outputs := spec.CoreGroups * s.OH * s.OW
	switch {
	case s.Method == Ave:
		p.planes.sized = pages.Make[float32](outputs)
	case s.Packed && p.planes.kernel.Packs():
		p.planes.packed, p.planes.indices = true, pages.Make[int32](outputs)
	}
	return nil
}

// Meets reports whether every window overlaps the image.
func (s *Shape) Meets() bool {
	return s.PH < s.KH && s.PW < s.KW && (s.OH-1)*s.SH-s.PH < s.H && (s.OW-1)*s.SW-s.PW < s.W
}

// runPlanes pools a core group's share of the planes.
func (p *Kernel) runPlanes(g *cpe.CoreGroup) error {
	s, kernel := &p.shape, p.planes.kernel
	in, out := s.H*s.W, s.OH*s.OW
	lo, hi := g.Share(s.N * s.C)
	for n := lo; n < hi; n++ {
		x, y := p.x[n*in:(n+1)*in], p.y[n*out:(n+1)*out]
		switch {
		case s.Method == Ave && p.backward:
			kernel.AverageGrad(x, y, p.planes.sized[g.Index()*out:(g.Index()+1)*out])
		case s.Method == Ave:
			kernel.Average(y, x)
		case p.backward:
			kernel.MaxGrad(x, y, p.Maxima(g, n))
		default:
			p.MaxPlane(g, n, y, x)
		}
	}
	return nil
}

// MaxPlane pools plane n.
func (p *Kernel) MaxPlane(g *cpe.CoreGroup, n int, y, x []float32) {
	index := p.indicesOf(g, n)
	p.planes.kernel.Max(y, index, x)
	switch {
	case p.planes.packed:
		p.planes.kernel.PackPlaces(p.codesOf(n), index, y, p.shape.ReLU)
	case p.shape.ReLU:
		rectify(y, index)
	}
}

// Maxima returns the index in its plane of the input that each output of plane n took.
func (p *Kernel) Maxima(g *cpe.CoreGroup, n int) []int32 {
	index := p.indicesOf(g, n)
	if p.planes.packed {
		p.planes.kernel.UnpackPlaces(index, p.codesOf(n))
	}
	return index
}

// indicesOf returns the indices of plane n: a part of the mask or, if that is packed, a core group's buffer.
func (p *Kernel) indicesOf(g *cpe.CoreGroup, n int) []int32 {
	out := p.shape.OH * p.shape.OW
	if p.planes.packed {
		return p.planes.indices[g.Index()*out : (g.Index()+1)*out]
	}
	return p.mask[n*out : (n+1)*out]
}

// codesOf returns the packed mask of plane n: its words hold a byte for each output.
func (p *Kernel) codesOf(n int) []uint8 {
	out := p.shape.OH * p.shape.OW
	return p.maskBytes()[n*out : (n+1)*out]
}
