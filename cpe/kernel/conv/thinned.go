package conv

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
)

// thinnedAlgorithm is the algorithm thinned.
var thinnedAlgorithm = Algorithm{
	Name: "thinned", Doc: "gathers the pixels at multiples of the stride, then a GEMM, for strided 1x1 kernels", Family: shape.Implicit,
	Directions: everyDirection,
	Supports: func(p *Problem) error {
		return firstReason(onHost(p), inPlanes(p), unless(thinnable(p.Shape), "it computes only 1x1 kernels with strides and without padding"))
	},
	Cost:    productCost,
	Can:     func(p *Problem) Abilities { return gradientsOnly(p, AddImages) },
	Kernel:  newThinnedConv,
	Special: true,
}

// thinnedConv is the host's strided 1x1 convolution. It gathers the pixels at multiples of the stride, and then computes a 1x1 convolution
// without strides. For the input gradient it scatters the pixels' gradient; all other pixels' gradient is zero.
type thinnedConv struct {
	*task
	inner            *task // the convolution without strides
	pixelArrays      Arrays
	strideH, strideW int
	h, w             int // extents of the image
	outH, outW       int // extents of the gathered image
	images, pixels   []float32
}

// thinned returns the unit-stride convolution of the gathered pixels.
func thinned(s shape.Conv) shape.Conv {
	s.In, s.Stride = s.OutSize(), tiling.Ones(len(s.In))
	return s
}

func newThinnedConv(m *cpe.Machine, p *Problem) (Kernel, error) {
	inner := *p
	inner.Shape = thinned(p.Shape)
	t := &thinnedConv{task: &task{Problem: *p, machine: m}, inner: &task{Problem: inner, machine: m}}
	t.strideH, t.strideW = tiling.Two(p.Shape.Stride, 1)
	t.h, t.w = tiling.Two(p.Shape.In, 1)
	t.outH, t.outW = tiling.Two(p.Shape.OutSize(), 1)
	err := newImplicitConv(t.inner)
	t.takes(cpe.Scratch{Common: t.values(), Group: t.inner.scratch.Group})
	return t, err
}

// inside names the algorithm that multiplies the gathered pixels.
func (t *thinnedConv) inside() shape.Algorithm { return "implicit-pointwise" }

// values is the number of values of the gathered pixels.
func (t *thinnedConv) values() int { return t.Shape.N * t.Shape.C * t.outH * t.outW }

// Name names the stage.
func (t *thinnedConv) Name() string { return "convolution, pixels that strides meet" }

// RunGroup gathers or scatters a core group's share of the planes.
func (t *thinnedConv) RunGroup(g *cpe.CoreGroup) error {
	lo, hi := g.Share(t.Shape.N * t.Shape.C)
	for plane := lo; plane < hi; plane++ {
		spread, add := t.Direction == shape.InputGradient, t.args.Add
		image, pixels := t.images[plane*t.h*t.w:(plane+1)*t.h*t.w], t.pixels[plane*t.outH*t.outW:(plane+1)*t.outH*t.outW]
		if spread && !add {
			clear(image)
		}
		for y := range t.outH {
			far, near := image[y*t.strideH*t.w:], pixels[y*t.outW:(y+1)*t.outW]
			if !spread {
				vec.Every(near, far, t.strideW)
				continue
			}
			if add {
				for x, v := range near {
					far[x*t.strideW] += v
				}
				continue
			}
			for x, v := range near {
				far[x*t.strideW] = v
			}
		}
	}
	return nil
}

// Run computes the direction on the gathered pixels.
func (t *thinnedConv) Run(a Arrays) error {
	t.machine.TakeScratch(t.scratch)
	t.args, t.pixelArrays = a, a
	t.images, t.pixels = a.images(t.Direction), t.machine.Common(t.values())
	if t.Direction == shape.InputGradient {
		t.pixelArrays.DX, t.pixelArrays.Add = t.pixels, false
		if err := t.inner.work(t.pixelArrays); err != nil {
			return err
		}
		return t.machine.Run(t, 0)
	}
	t.pixelArrays.X = t.pixels
	if err := t.machine.Run(t, 0); err != nil {
		return err
	}
	return t.inner.work(t.pixelArrays)
}
