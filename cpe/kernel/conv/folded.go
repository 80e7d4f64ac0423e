package conv

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/simd/vwinograd"
)

// foldedKinds are the kinds that can compute the convolution of folded images; the first that supports it does.
var foldedKinds = []*winogradKind{&smallKind, &panelsKind, &tilesKind, &panelSumsKind, &sumsKind}

// foldedAlgorithm returns the algorithm for strided convolutions with the tiles of a strategy.
func foldedAlgorithm(st shape.Strategy) *Algorithm {
	return &Algorithm{
		Name: st.String() + "-folded", Doc: "turns strides into channels (space to depth), then Winograd's convolution with strides of 1", Family: st,
		Directions: []shape.Direction{shape.Forward, shape.WeightGradient},
		Supports: func(p *Problem) error {
			s, ok := byWinograd(p.Shape, p.Spec, p.Direction)
			return firstReason(onHost(p), unless(!p.Shape.UnitStride(), "strides are 1"), unless(ok, "it computes only images of two axes without dilation"),
				winogradMaps(p, &s, st), unless(p.Images == Planes, "it reads only planes; images are in %v", p.Images), winogradBlocks(p))
		},
		Declines: func(p *Problem) error { return notLeast(p, st) }, Cost: winogradCost(st), Works: resultsInBlocks, Can: winogradCan,
		Kernel: func(m *cpe.Machine, p *Problem) (Kernel, error) {
			s := folded(p.Shape)
			return newFoldedConv(m, p, winogradForm(&s, st))
		},
	}
}

// foldedConv computes a strided convolution as a unit-stride Winograd convolution of folded images (space to depth; see folding.go). Images
// are folded on the fly, when the inner convolution transforms a patch of 16 channels. Kernels are folded by a stage before it; their
// gradient is unfolded by a stage after it.
type foldedConv struct {
	*task
	inner   *task  // the convolution of folded images
	kind    string // kind of the inner convolution
	folded  Arrays
	kernels int   // number of kernels (output x input channels)
	taps    []int // position of each weight of a kernel in the folded kernel
	each    int   // weights of a folded kernel
	weights []float32
}

// newFoldedConv prepares a direction with Winograd tiles of one form.
func newFoldedConv(m *cpe.Machine, p *Problem, form vwinograd.Form) (Kernel, error) {
	s := &p.Shape
	inner := *p
	inner.Shape = folded(*s)
	f := &foldedConv{task: &task{Problem: *p, machine: m}, inner: &task{Problem: inner, machine: m}, kernels: s.Out * s.C / s.Group}
	f.taps, f.each = foldedTaps(*s)
	for _, k := range foldedKinds {
		if k.supports(&inner, form) == nil {
			f.kind = k.name
			k.build(&winogradTask{task: f.inner, form: form, fold: newImageFold(s)})
			break
		}
	}
	f.takes(cpe.Scratch{Common: f.from() + f.values(), Group: f.inner.scratch.Group})
	return f, nil
}

// inside names the inner convolution.
func (f *foldedConv) inside() shape.Algorithm { return shape.Algorithm(f.kind) }

// values is the number of folded weights. They lie behind the inner convolution's scratch memory, at from.
func (f *foldedConv) values() int { return f.kernels * f.each }

func (f *foldedConv) from() int {
	return tiling.Blocks(f.inner.scratch.Common, panel) * panel
}

// Run computes the direction.
func (f *foldedConv) Run(a Arrays) error {
	f.machine.TakeScratch(f.scratch)
	f.args, f.folded = a, a
	kernels := f.machine.Common(f.from() + f.values())[f.from():]
	if f.Direction == shape.Forward {
		f.weights, f.folded.W = a.W, kernels
		if err := f.machine.Run(f, 0); err != nil {
			return err
		}
		return f.inner.work(f.folded)
	}
	if f.weights = a.DW; a.DW != nil {
		f.folded.DW, f.folded.Add = kernels, false
	}
	if err := f.inner.work(f.folded); err != nil || f.weights == nil {
		return err
	}
	return f.machine.Run(f, 0)
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
		case f.args.Add:
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
