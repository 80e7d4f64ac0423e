package winograd

import (
	"errors"
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/base/simd/vwinograd"
)

// kind is one of the host's Winograd kernels, for tiles of any form and strides of 1.
type kind struct {
	name, doc  string
	directions []shape.Direction
	special    bool                                          // other kinds decline where this one supports a problem
	supports   func(p *conv.Problem, f vwinograd.Form) error // strides are 1, and the form has transforms
	build      func(t *task)
}

// sketch returns a task for planning only; it is never run.
func sketch(p *conv.Problem, f vwinograd.Form) *task {
	return &task{Task: conv.NewTask(nil, p), form: f}
}

// algorithm returns the kind with the tiles of a strategy.
func (k *kind) algorithm(st shape.Strategy) *conv.Algorithm {
	return &conv.Algorithm{
		Name: st.String() + "-" + k.name, Doc: k.doc, Family: st, Directions: k.directions, Special: k.special, General: !k.special,
		Supports: func(p *conv.Problem) error {
			s := &p.Shape
			if err := op.FirstReason(op.OnHost(p), hasTransforms(p, s, st), op.Unless(s.UnitStride(), "strides are %v", s.Stride), wholeSlices(p)); err != nil {
				return err
			}
			return k.supports(p, formOf(s, st))
		},
		Declines: func(p *conv.Problem) error { return notLeast(p, st) }, Cost: costOf(st), Works: conv.ComputesInBlocks, Steps: steps,
		Kernel: func(m *cpe.Machine, p *conv.Problem) (conv.Kernel, error) {
			t := conv.NewTask(m, p)
			k.build(&task{Task: t, form: formOf(&p.Shape, st)})
			return t, nil
		},
	}
}

// hasTransforms refuses kernels for which a strategy has no transforms.
func hasTransforms(p *conv.Problem, s *shape.Conv, st shape.Strategy) error {
	if len(s.In) != 2 || s.Kernel[0] != s.Kernel[1] {
		return errors.New("it computes only square kernels and images of two axes")
	}
	_, ok := byWinograd(p.Shape, p.Spec, p.Direction)
	return op.FirstReason(op.Unless(ok, "strides, or dilations larger than the image, exclude tiles"),
		op.Unless(vwinograd.Has(formOf(s, st)), "there is no transform for tiles of %dx%[1]d outputs and kernels of %dx%[2]d", st.Tile(), s.Kernel[0]))
}

// wholeSlices refuses blocks of channels unless each group fills whole blocks.
func wholeSlices(p *conv.Problem) error {
	s := &p.Shape
	return op.FirstReason(conv.WholeBlocks(p.Images, s.C/s.Group), conv.WholeBlocks(p.Results, s.Out/s.Group))
}

// notLeast declines if tiles of another form take less work.
func notLeast(p *conv.Problem, st shape.Strategy) error {
	if best, _ := leastWork(p.Shape, p.Spec, p.Direction); best != st {
		return fmt.Errorf("%v takes less work, or hardly more with smaller tiles, which are more accurate", best)
	}
	return nil
}

// costOf returns the cost function of a strategy's tiles. Dividing by gain makes up for their lower accuracy.
func costOf(st shape.Strategy) func(*conv.Problem) float64 {
	return func(p *conv.Problem) float64 {
		s, _ := byWinograd(p.Shape, p.Spec, p.Direction)
		return formWork(s, p.Spec, formOf(&s, st), p.Direction) / Gain
	}
}

// steps are those of Winograd's kernels.
func steps(p *conv.Problem, s op.Step) error {
	switch {
	case p.Direction == shape.Forward:
		return conv.StepsForward(p, s)
	case p.Direction == shape.WeightGradient:
		return op.Among(s, op.Overwrite, op.SumBiases)
	case p.Images != shape.Planes:
		return op.Among(s, op.Mask)
	}
	return op.Among(s)
}
