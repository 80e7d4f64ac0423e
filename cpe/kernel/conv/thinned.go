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
	conv             *Conv // without strides
	shape            shape.Conv
	strideH, strideW int
	h, w             int // of the image
	outH, outW       int // of the pixels
	spread, add      bool
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

func newThinnedConv(m *cpe.Machine, s shape.Conv) (*thinnedConv, error) {
	t := &thinnedConv{shape: s}
	t.strideH, t.strideW = tiling.Two(s.Stride, 1)
	t.h, t.w = tiling.Two(s.In, 1)
	t.outH, t.outW = tiling.Two(s.OutSize(), 1)
	var err error
	t.conv, err = New(m, thinned(s), shape.Implicit)
	return t, err
}

// values is the number of values of the pixels.
func (t *thinnedConv) values() int { return t.shape.N * t.shape.C * t.outH * t.outW }

// scratch is that of a direction: the pixels, and what each core group takes to convolve them.
func (t *thinnedConv) scratch(d shape.Direction) cpe.Scratch {
	return cpe.Scratch{Common: t.values(), Group: t.conv.scratch[d].Group}
}

// Name names the stage.
func (t *thinnedConv) Name() string { return "convolution, pixels that strides meet" }

// RunGroup moves a core group's share of the planes.
func (t *thinnedConv) RunGroup(g *cpe.CoreGroup) error {
	lo, hi := g.Share(t.shape.N * t.shape.C)
	for plane := lo; plane < hi; plane++ {
		image, pixels := t.images[plane*t.h*t.w:(plane+1)*t.h*t.w], t.pixels[plane*t.outH*t.outW:(plane+1)*t.outH*t.outW]
		if t.spread && !t.add {
			clear(image)
		}
		for y := range t.outH {
			far, near := image[y*t.strideH*t.w:], pixels[y*t.outW:(y+1)*t.outW]
			if !t.spread {
				vec.Every(near, far, t.strideW)
				continue
			}
			if t.add {
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

// run computes a direction on the pixels.
func (t *thinnedConv) run(d shape.Direction, args convArrays) error {
	m := t.conv.machine
	t.images, t.pixels, t.spread = args.x, m.Common(t.values()), d == shape.InputGradient
	t.add, args.x, args.add = args.add, t.pixels, false
	if t.spread {
		if err := t.conv.work(d, args); err != nil {
			return err
		}
		return m.Run(t, 0)
	}
	if err := m.Run(t, 0); err != nil {
		return err
	}
	return t.conv.work(d, args)
}
