package conv

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// foldedConv computes a direction of a convolution with strides as one of folded images without, by one of Winograd's strategies. Images are
// folded where they are mapped to points, a slice of channels of a patch at a time; kernels are before, and their gradient is unfolded at the
// end.
type foldedConv struct {
	conv      *Conv // of folded images
	direction shape.Direction
	kernels   int   // of the convolution with strides
	taps      []int // places of a kernel's weights among those it is folded to
	each      int   // weights that it is folded to
	weights   []float32
	add       bool
}

// folds reports whether a direction is a folded convolution's.
func (c *Conv) folds(d shape.Direction) bool {
	return c.plan.Strategy[d].IsWinograd() && foldsImages(c.shape, d)
}

func newFoldedConv(c *Conv, d shape.Direction) (*foldedConv, error) {
	s, st := &c.shape, c.plan.Strategy[d]
	f := &foldedConv{direction: d, kernels: s.Out * s.C / s.Group}
	f.taps, f.each = foldedTaps(*s)
	var err error
	if f.conv, err = newConv(c.machine, folded(*s), &considered{chosen: [3]shape.Strategy{st, st, st}}); err != nil {
		return nil, err
	}
	f.conv.blocked[1], f.conv.fold = c.blocked[1], newImageFold(s)
	return f, f.conv.prepare(d)
}

// values is the number of folded weights, which lie behind the inner convolution's scratch.
func (f *foldedConv) values() int { return f.kernels * f.each }

func (f *foldedConv) from() int {
	return tiling.Blocks(f.conv.scratch[f.direction].Common, panel) * panel
}

// scratch is that of the inner convolution, and the folded weights.
func (f *foldedConv) scratch() cpe.Scratch {
	return cpe.Scratch{Common: f.from() + f.values(), Group: f.conv.scratch[f.direction].Group}
}

// run computes the direction.
func (f *foldedConv) run(args convArrays) error {
	m := f.conv.machine
	f.weights, f.add = args.w, args.add
	if args.w != nil {
		args.w, args.add = m.Common(f.from() + f.values())[f.from():], false
	}
	if f.direction == shape.Forward {
		if err := m.Run(f, 0); err != nil {
			return err
		}
		return f.conv.work(f.direction, args)
	}
	if err := f.conv.work(f.direction, args); err != nil || f.weights == nil {
		return err
	}
	return m.Run(f, 0)
}

// Name names the stage.
func (f *foldedConv) Name() string {
	return "convolution " + f.direction.String() + ", folding kernels"
}

// RunGroup folds a core group's share of the kernels or, where they are their gradient's, brings these to their places or adds them there.
func (f *foldedConv) RunGroup(g *cpe.CoreGroup) error {
	folded := g.Common(f.from() + f.values())[f.from():]
	lo, hi := g.Share(f.kernels)
	if f.direction == shape.Forward {
		clear(folded[lo*f.each : hi*f.each])
	}
	for i := lo; i < hi; i++ {
		outer, inner := f.weights[i*len(f.taps):][:len(f.taps)], folded[i*f.each:][:f.each]
		switch {
		case f.direction == shape.Forward:
			for k, at := range f.taps {
				inner[at] = outer[k]
			}
		case f.add:
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
