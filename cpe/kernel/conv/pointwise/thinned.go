package pointwise

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/direct"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// Thinned is the algorithm thinned.
var Thinned = conv.Algorithm{
	Name: "thinned", Doc: "gathers the pixels at multiples of the stride, then a GEMM, for strided 1x1 kernels", Family: shape.Implicit,
	Directions: conv.EveryDirection,
	Supports: func(p *conv.Problem) error {
		return op.FirstReason(op.OnHost(p), conv.InPlanes(p), op.Unless(conv.StridedPointwise(p.Shape), "it computes only 1x1 kernels with strides and without padding"))
	},
	Cost: conv.ProductCost,
	Steps: func(p *conv.Problem, s op.Step) error {
		if p.Direction == shape.InputGradient {
			return op.Among(s, op.Add)
		}
		return op.Among(s)
	},
	Kernel:  newThinnedConv,
	Special: true,
}

// thinnedConv is the host's strided 1x1 convolution. It gathers the pixels at multiples of the stride, and then computes a 1x1 convolution
// without strides. For the input gradient it scatters the pixels' gradient; all other pixels' gradient is zero.
type thinnedConv struct {
	*conv.Task
	inner            *conv.Task // the convolution without strides
	pixelArrays      conv.Arrays
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

func newThinnedConv(m *cpe.Machine, p *conv.Problem) (conv.Kernel, error) {
	inner := *p
	inner.Shape = thinned(p.Shape)
	t := &thinnedConv{Task: conv.NewTask(m, p), inner: conv.NewTask(m, &inner)}
	t.strideH, t.strideW = tiling.Two(p.Shape.Stride, 1)
	t.h, t.w = tiling.Two(p.Shape.In, 1)
	t.outH, t.outW = tiling.Two(p.Shape.OutSize(), 1)
	err := direct.NewImplicit(t.inner)
	t.Plan = t.inner.Plan
	t.Reserved = cpe.Scratch{Common: t.values(), Group: t.inner.Reserved.Group}
	return t, err
}

// Inner names the algorithm that multiplies the gathered pixels.
func (t *thinnedConv) Inner() shape.Algorithm { return "implicit-pointwise" }

// values is the number of values of the gathered pixels.
func (t *thinnedConv) values() int { return t.Shape.N * t.Shape.C * t.outH * t.outW }

// Name names the stage.
func (t *thinnedConv) Name() string { return "convolution, pixels that strides meet" }

// RunGroup gathers or scatters a core group's share of the planes.
func (t *thinnedConv) RunGroup(g *cpe.CoreGroup) error {
	lo, hi := g.Share(t.Shape.N * t.Shape.C)
	for plane := lo; plane < hi; plane++ {
		spread, add := t.Direction == shape.InputGradient, t.Args.Add
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
func (t *thinnedConv) Run(a conv.Arrays) error {
	t.Machine.TakeScratch(t.Reserved)
	t.Args, t.pixelArrays = a, a
	t.images, t.pixels = a.Images(t.Direction), t.Machine.Common(t.values())
	if t.Direction == shape.InputGradient {
		t.pixelArrays.DX, t.pixelArrays.Add = t.pixels, false
		if err := t.inner.RunStages(t.pixelArrays); err != nil {
			return err
		}
		return t.Machine.Run(t, 0)
	}
	t.pixelArrays.X = t.pixels
	if err := t.Machine.Run(t, 0); err != nil {
		return err
	}
	return t.inner.RunStages(t.pixelArrays)
}
