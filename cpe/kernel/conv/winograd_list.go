package conv

import (
	"errors"
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/simd/vwinograd"
)

// winogradKind is one of the host's Winograd kernels, for tiles of any form and strides of 1.
type winogradKind struct {
	name, doc  string
	directions []shape.Direction
	special    bool                                     // other kinds decline where this one supports a problem
	supports   func(p *Problem, f vwinograd.Form) error // strides are 1, and the form has transforms
	build      func(t *winogradTask)
}

// sketch returns a task for planning only; it is never run.
func sketch(p *Problem, f vwinograd.Form) *winogradTask {
	return &winogradTask{task: &task{Problem: *p}, form: f}
}

// algorithm returns the kind with the tiles of a strategy.
func (k *winogradKind) algorithm(st shape.Strategy) *Algorithm {
	return &Algorithm{
		Name: st.String() + "-" + k.name, Doc: k.doc, Family: st, Directions: k.directions, Special: k.special, General: !k.special,
		Supports: func(p *Problem) error {
			s := &p.Shape
			if err := firstReason(onHost(p), winogradMaps(p, s, st), unless(s.UnitStride(), "strides are %v", s.Stride), winogradBlocks(p)); err != nil {
				return err
			}
			return k.supports(p, winogradForm(s, st))
		},
		Declines: func(p *Problem) error { return notLeast(p, st) }, Cost: winogradCost(st), Works: worksInBlocks, Can: winogradCan,
		Kernel: func(m *cpe.Machine, p *Problem) (Kernel, error) {
			t := &task{Problem: *p, machine: m}
			k.build(&winogradTask{task: t, form: winogradForm(&p.Shape, st)})
			return t, nil
		},
	}
}

// winogradMaps refuses kernels for which a strategy has no transforms.
func winogradMaps(p *Problem, s *shape.Conv, st shape.Strategy) error {
	if len(s.In) != 2 || s.Kernel[0] != s.Kernel[1] {
		return errors.New("it computes only square kernels and images of two axes")
	}
	_, ok := byWinograd(p.Shape, p.Spec, p.Direction)
	return firstReason(unless(ok, "strides, or dilations larger than the image, exclude tiles"),
		unless(vwinograd.Has(winogradForm(s, st)), "there is no transform for tiles of %dx%[1]d outputs and kernels of %dx%[2]d", st.Tile(), s.Kernel[0]))
}

// winogradBlocks refuses blocks of channels unless each group fills whole blocks.
func winogradBlocks(p *Problem) error {
	s := &p.Shape
	return firstReason(wholeBlocks(p.Images, s.C/s.Group), wholeBlocks(p.Results, s.Out/s.Group))
}

// notLeast declines if tiles of another form take less work.
func notLeast(p *Problem, st shape.Strategy) error {
	if best, _ := leastWinograd(p.Shape, p.Spec, p.Direction); best != st {
		return fmt.Errorf("%v takes less work, or hardly more with smaller tiles, which are more accurate", best)
	}
	return nil
}

// winogradCost returns the cost function of a strategy's tiles. Dividing by gain makes up for their lower accuracy.
func winogradCost(st shape.Strategy) func(*Problem) float64 {
	return func(p *Problem) float64 {
		s, _ := byWinograd(p.Shape, p.Spec, p.Direction)
		return formWork(s, p.Spec, winogradForm(&s, st), p.Direction) / gain
	}
}

// winogradCan returns the abilities of Winograd's kernels.
func winogradCan(p *Problem) Abilities {
	switch {
	case p.Direction == shape.Forward:
		return FloorResults
	case p.Direction == shape.WeightGradient:
		return SetWeights | SumBiases
	case p.Images != Planes:
		return MaskImages
	}
	return 0
}
