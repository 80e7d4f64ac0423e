package conv

import (
	"errors"
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/simd/vwinograd"
)

// winogradKind is one of the host's ways through Winograd's convolution, for tiles of any form. The first that supports a problem computes it.
type winogradKind struct {
	name, doc  string
	directions []shape.Direction
	supports   func(p *Problem, f vwinograd.Form) error // strides are 1
	build      func(t *winogradTask)
}

var winogradKinds = []winogradKind{
	{
		"small", "computes a gradient, or both, in a core group's cache from a block of small images of few channels",
		[]shape.Direction{shape.WeightGradient, shape.InputGradient, shape.BothGradients},
		func(p *Problem, f vwinograd.Form) error {
			return unless(p.Direction != shape.Forward && smallImages(&p.Shape, p.Spec, f), "images do not fit L1, sums do not fit L2, or images are less than %d", smallChunks*leastImages)
		},
		newWinogradSmall,
	},
	{
		"panels", "maps the tiles of a block once; core groups share panels of outputs: weights are many or tiles few",
		[]shape.Direction{shape.Forward, shape.InputGradient},
		func(p *Problem, f vwinograd.Form) error {
			return unless(p.Direction != shape.WeightGradient && newWinogradConv(sketch(p, f)).byPanels(), "mapped weights fit L2 and tiles are enough for all cores")
		},
		func(t *winogradTask) { newWinogradPanels(newWinogradConv(t)) },
	},
	{
		"tiles", "maps all weights once; core groups share the tiles",
		[]shape.Direction{shape.Forward, shape.InputGradient},
		func(p *Problem, f vwinograd.Form) error {
			return unless(p.Direction != shape.WeightGradient && !newWinogradConv(sketch(p, f)).byPanels(), "mapped weights do not fit L2, or tiles are too few for all cores")
		},
		func(t *winogradTask) { newWinogradTiles(newWinogradConv(t)) },
	},
	{
		"panel-sums", "adds to the weights' gradient block by block of tiles; core groups share panels: weights are many or tiles few",
		[]shape.Direction{shape.WeightGradient},
		func(p *Problem, f vwinograd.Form) error {
			return unless(p.Direction == shape.WeightGradient && newWinogradGrads(sketch(p, f)).sumsByPanels(), "sums fit L2, and tiles are more than a block")
		},
		func(t *winogradTask) { newWinogradGradPanels(newWinogradGrads(t)) },
	},
	{
		"sums", "keeps the sums of the weights' gradient for all blocks of tiles",
		[]shape.Direction{shape.WeightGradient},
		func(p *Problem, f vwinograd.Form) error {
			return unless(p.Direction == shape.WeightGradient && !newWinogradGrads(sketch(p, f)).sumsByPanels(), "sums do not fit L2, or tiles are a block")
		},
		func(t *winogradTask) { newWinogradSums(newWinogradGrads(t)) },
	},
}

// sketch is a task that is not run.
func sketch(p *Problem, f vwinograd.Form) *winogradTask {
	return &winogradTask{task: &task{Problem: *p}, form: f}
}

// winogradAlgorithms are the kinds with each form of tiles, the same for folded images, and the modelled machine's.
func winogradAlgorithms() []Algorithm {
	var list []Algorithm
	for _, st := range winogradStrategies {
		for i := range winogradKinds {
			list = append(list, winogradAlgorithm(st, i))
		}
		list = append(list, foldedAlgorithm(st), winogradMeshAlgorithm(st))
	}
	return list
}

// winogradAlgorithm is a kind with the tiles of a strategy.
func winogradAlgorithm(st shape.Strategy, kind int) Algorithm {
	k := &winogradKinds[kind]
	return Algorithm{
		Name: st.String() + "-" + k.name, Doc: k.doc, Family: st, Directions: k.directions,
		Supports: func(p *Problem) error {
			s := &p.Shape
			if err := firstReason(onHost(p), winogradMaps(p, s, st), unless(s.UnitStride(), "strides are %v", s.Stride), winogradBlocks(p)); err != nil {
				return err
			}
			for i := range kind {
				if slices.Contains(winogradKinds[i].directions, p.Direction) && winogradKinds[i].supports(p, winogradForm(s, st)) == nil {
					return fmt.Errorf("%v-%s computes it", st, winogradKinds[i].name)
				}
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

// foldedAlgorithm has the tiles of a strategy for folded images.
func foldedAlgorithm(st shape.Strategy) Algorithm {
	return Algorithm{
		Name: st.String() + "-folded", Doc: "brings a block of stride x stride pixels into the channels of one, so that Winograd's convolution applies", Family: st,
		Directions: []shape.Direction{shape.Forward, shape.WeightGradient},
		Supports: func(p *Problem) error {
			s, ok := byWinograd(p.Shape, p.Spec, p.Direction)
			return firstReason(onHost(p), unless(!p.Shape.UnitStride(), "strides are 1"), unless(ok, "it is for images of two axes without dilation"),
				winogradMaps(p, &s, st), unless(p.Images == Planes, "it reads planes; images lie in %v", p.Images), winogradBlocks(p))
		},
		Declines: func(p *Problem) error { return notLeast(p, st) }, Cost: winogradCost(st), Works: resultsInBlocks, Can: winogradCan,
		Kernel: func(m *cpe.Machine, p *Problem) (Kernel, error) {
			s := folded(p.Shape)
			return newFoldedConv(m, p, winogradForm(&s, st))
		},
	}
}

// winogradMeshAlgorithm has the tiles of a strategy on a modelled machine.
func winogradMeshAlgorithm(st shape.Strategy) Algorithm {
	return Algorithm{
		Name: st.String() + "-mesh", Doc: "multiplies at each point on the CPE mesh of a modelled machine, over the tiles of all images", Family: st, Asked: true,
		Directions: []shape.Direction{shape.Forward, shape.WeightGradient, shape.InputGradient},
		Supports: func(p *Problem) error {
			s := &p.Shape
			return firstReason(onModel(p), inPlanes(p), unless(s.UnitStride() && !s.Dilated(), "strides are %v and dilations %v", s.Stride, s.Dilation), winogradMaps(p, s, st))
		},
		Declines: func(p *Problem) error {
			return unless(st == shape.Winograd2 || !winogradable(&p.Shape, shape.Winograd2), "Fang et al. 2019 have tiles of 2x2 outputs")
		},
		Kernel: func(m *cpe.Machine, p *Problem) (Kernel, error) {
			t := &task{Problem: *p, machine: m}
			return t, newWinogradMesh(&winogradTask{task: t, form: winogradForm(&p.Shape, st)}, meshPoints)
		},
	}
}

// winogradMaps refuses kernels for which a strategy has no maps.
func winogradMaps(p *Problem, s *shape.Conv, st shape.Strategy) error {
	if len(s.In) != 2 || s.Kernel[0] != s.Kernel[1] {
		return errors.New("it is for square kernels and images of two axes")
	}
	_, ok := byWinograd(p.Shape, p.Spec, p.Direction)
	return firstReason(unless(ok, "strides, or dilations longer than images, leave no tiles"),
		unless(vwinograd.Has(winogradForm(s, st)), "there are no maps for tiles of %dx%[1]d outputs and kernels of %dx%[2]d", st.Tile(), s.Kernel[0]))
}

// winogradBlocks refuses blocks of channels of several groups.
func winogradBlocks(p *Problem) error {
	s := &p.Shape
	return firstReason(wholeBlocks(p.Images, s.C/s.Group), wholeBlocks(p.Results, s.Out/s.Group))
}

// notLeast says that tiles of another form have less work.
func notLeast(p *Problem, st shape.Strategy) error {
	if best, _ := leastWinograd(p.Shape, p.Spec, p.Direction); best != st {
		return fmt.Errorf("%v has less work, or hardly more with smaller tiles, which are more exact", best)
	}
	return nil
}

// winogradCost is the work with the tiles of a strategy, and the gain that makes up for numbers that are less exact.
func winogradCost(st shape.Strategy) func(*Problem) float64 {
	return func(p *Problem) float64 {
		s, _ := byWinograd(p.Shape, p.Spec, p.Direction)
		return formWork(s, p.Spec, winogradForm(&s, st), p.Direction) / gain
	}
}

// winogradCan is what Winograd's kernels do on the way.
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
