package winograd

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vwinograd"
)

// foldedKinds are the kinds that can compute the convolution of folded images; the first that supports it does.
var foldedKinds = []*kind{&smallKind, &panelsKind, &tilesKind, &panelSumsKind, &sumsKind}

// Folded returns the algorithm for strided convolutions with the tiles of a strategy.
func Folded(st shape.Strategy) *conv.Algorithm {
	return &conv.Algorithm{
		Name: st.String() + "-folded", Doc: "turns strides into channels (space to depth), then Winograd's convolution with strides of 1", Family: st,
		Directions: []shape.Direction{shape.Forward, shape.WeightGradient},
		Supports: func(p *conv.Problem) error {
			s, ok := byWinograd(p.Shape, p.Spec, p.Direction)
			return op.FirstReason(op.OnHost(p), op.Unless(!p.Shape.UnitStride(), "strides are 1"), op.Unless(ok, "it computes only images of two axes without dilation"),
				hasTransforms(p, &s, st), op.Unless(p.Images == shape.Planes, "it reads only planes; images are in %v", p.Images), wholeSlices(p))
		},
		Declines: func(p *conv.Problem) error { return notLeast(p, st) }, Cost: costOf(st), Works: conv.ReadsPlanes, Steps: steps,
		Kernel: func(m *cpe.Machine, p *conv.Problem) (conv.Kernel, error) {
			s := folded(p.Shape)
			return newFoldedConv(m, p, formOf(&s, st))
		},
	}
}

// foldedConv computes a strided convolution as a unit-stride Winograd convolution of folded images (space to depth; see folding.go). Images
// are folded on the fly, when the inner convolution transforms a patch of 16 channels. Kernels are folded by a stage before it; their
// gradient is unfolded by a stage after it.
type foldedConv struct {
	*conv.Task
	inner   *conv.Task // the convolution of folded images
	kind    string     // kind of the inner convolution
	folded  conv.Arrays
	kernels int   // number of kernels (output x input channels)
	taps    []int // position of each weight of a kernel in the folded kernel
	each    int   // weights of a folded kernel
	weights []float32
}

// newFoldedConv prepares a direction with Winograd tiles of one form.
func newFoldedConv(m *cpe.Machine, p *conv.Problem, form vwinograd.Form) (conv.Kernel, error) {
	s := &p.Shape
	inner := *p
	inner.Shape = folded(*s)
	f := &foldedConv{Task: conv.NewTask(m, p), inner: conv.NewTask(m, &inner), kernels: s.Out * s.C / s.Group}
	f.taps, f.each = foldedTaps(*s)
	for _, k := range foldedKinds {
		if k.supports(&inner, form) == nil {
			f.kind = k.name
			k.build(&task{Task: f.inner, form: form, fold: newImageFold(s)})
			break
		}
	}
	f.Plan = f.inner.Plan
	f.Reserved = cpe.Scratch{Common: f.from() + f.values(), Group: f.inner.Reserved.Group}
	return f, nil
}

// Inner names the inner convolution.
func (f *foldedConv) Inner() shape.Algorithm { return shape.Algorithm(f.kind) }

// values is the number of folded weights. They lie behind the inner convolution's scratch memory, at from.
func (f *foldedConv) values() int { return f.kernels * f.each }

func (f *foldedConv) from() int {
	return tiling.Blocks(f.inner.Reserved.Common, conv.Panel) * conv.Panel
}

// Run computes the direction.
func (f *foldedConv) Run(a conv.Arrays) error {
	f.Machine.TakeScratch(f.Reserved)
	f.Args, f.folded = a, a
	kernels := f.Machine.Common(f.from() + f.values())[f.from():]
	if f.Direction == shape.Forward {
		f.weights, f.folded.W = a.W, kernels
		if err := f.Machine.Run(f, 0); err != nil {
			return err
		}
		return f.inner.RunStages(f.folded)
	}
	if f.weights = a.DW; a.DW != nil {
		f.folded.DW, f.folded.Add = kernels, false
	}
	if err := f.inner.RunStages(f.folded); err != nil || f.weights == nil {
		return err
	}
	return f.Machine.Run(f, 0)
}

// Name names the stage.
func (f *foldedConv) Name() string {
	return "convolution " + f.Direction.String() + ", folding kernels"
}

// RunGroup folds a core group's share of the kernels or, for the weight gradient, unfolds it: it stores it in DW or adds it.
func (f *foldedConv) RunGroup(g *cpe.CoreGroup) error {
	folded := g.Common(f.from() + f.values())[f.from():]
	lo, hi := g.Share(f.kernels)
	if f.Direction == shape.Forward {
		clear(folded[lo*f.each : hi*f.each])
	}
	for i := lo; i < hi; i++ {
		outer, inner := f.weights[i*len(f.taps):][:len(f.taps)], folded[i*f.each:][:f.each]
		switch {
		case f.Direction == shape.Forward:
			for k, at := range f.taps {
				inner[at] = outer[k]
			}
		case f.Args.Add:
			for k, at := range f.taps {
				outer[k] += inner[at]
			}
		default:
			for k, at := range f.taps {
				outer[k] = inner[at]
			}
		}
	}
	return nil
}
