package conv

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
)

// thinnedConv is a pointwise convolution with strides on a native machine: it reads only every stride-th pixel, so these are
// brought together first, and what is left is a convolution without strides. The gradient of the pixels is spread over the
// input's, the rest of which is zero.
type thinnedConv struct {
	*task
	inner            *task // without strides
	pixelArrays      Arrays
	strideH, strideW int
	h, w             int // of the image
	outH, outW       int // of the pixels
	images, pixels   []float32
}

// thinnable reports whether only some pixels of the images are read: a 1x1 kernel with strides and no padding.
func thinnable(s shape.Conv) bool {
	for i := range s.In {
		if s.Kernel[i] != 1 || s.Pad[i] != 0 {
			return false
		}
	}
	return !s.UnitStride() && len(s.In) <= 2
}

// thinned returns the convolution of the pixels that are read.
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

// inside names what multiplies the pixels.
func (t *thinnedConv) inside() shape.Algorithm { return "implicit-pointwise" }

// values is the number of values of the pixels.
func (t *thinnedConv) values() int { return t.Shape.N * t.Shape.C * t.outH * t.outW }

// Name names the stage.
func (t *thinnedConv) Name() string { return "convolution, pixels that strides meet" }

// RunGroup moves a core group's share of the planes.
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

// Run computes the direction on the pixels.
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
