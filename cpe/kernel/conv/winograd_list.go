package conv

import (
	"errors"
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/simd/vwinograd"
)

// winogradKind is one of the host's Winograd kernels, for tiles of any form. The first kind that supports a problem computes it.
type winogradKind struct {
	name, doc  string
	directions []shape.Direction
	supports   func(p *Problem, f vwinograd.Form) error // the caller has checked that strides are 1
	build      func(t *winogradTask)
}

var winogradKinds = []winogradKind{
	{
		"small", "one gradient or both of a block of small images of few channels, in a core's cache",
		[]shape.Direction{shape.WeightGradient, shape.InputGradient, shape.BothGradients},
		func(p *Problem, f vwinograd.Form) error {
			return unless(p.Direction != shape.Forward && smallImages(&p.Shape, p.Spec, f), "a slice of an image does not fit L1, the sums do not fit L2, there are fewer than %d images, or there are groups or dilations", smallChunks*leastImages)
		},
		newWinogradSmall,
	},
	{
		"panels", "transforms the tiles of a block once; core groups share panels of output channels; for many weights or few tiles",
		[]shape.Direction{shape.Forward, shape.InputGradient},
		func(p *Problem, f vwinograd.Form) error {
			return unless(p.Direction != shape.WeightGradient && newWinogradConv(sketch(p, f)).byPanels(), "transformed weights fit L2 and there are enough tiles for all cores")
		},
		func(t *winogradTask) { newWinogradPanels(newWinogradConv(t)) },
	},
	{
		"tiles", "transforms all weights once; core groups share the tiles",
		[]shape.Direction{shape.Forward, shape.InputGradient},
		func(p *Problem, f vwinograd.Form) error {
			return unless(p.Direction != shape.WeightGradient && !newWinogradConv(sketch(p, f)).byPanels(), "transformed weights do not fit L2, or there are too few tiles for all cores")
		},
		func(t *winogradTask) { newWinogradTiles(newWinogradConv(t)) },
	},
	{
		"panel-sums", "adds to the weight gradient after each block of tiles; core groups share panels; for many weights or few tiles",
		[]shape.Direction{shape.WeightGradient},
		func(p *Problem, f vwinograd.Form) error {
			return unless(p.Direction == shape.WeightGradient && newWinogradGrads(sketch(p, f)).sumsByPanels(), "the sums fit L2, and there is more than one block of tiles")
		},
		func(t *winogradTask) { newWinogradGradPanels(newWinogradGrads(t)) },
	},
	{
		"sums", "sums over all blocks of tiles in the transform domain, then transforms the weight gradient back",
		[]shape.Direction{shape.WeightGradient},
		func(p *Problem, f vwinograd.Form) error {
			return unless(p.Direction == shape.WeightGradient && !newWinogradGrads(sketch(p, f)).sumsByPanels(), "the sums do not fit L2, or there is only one block of tiles")
		},
		func(t *winogradTask) { newWinogradSums(newWinogradGrads(t)) },
	},
}

// sketch returns a task for planning only; it is never run.
func sketch(p *Problem, f vwinograd.Form) *winogradTask {
	return &winogradTask{task: &task{Problem: *p}, form: f}
}

// winogradAlgorithms lists every kind with every form of tiles, the folded algorithms, and those of the modelled machine.
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

// winogradAlgorithm returns a kind with the tiles of a strategy.
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

// foldedAlgorithm returns the algorithm of folded images with the tiles of a strategy.
func foldedAlgorithm(st shape.Strategy) Algorithm {
	return Algorithm{
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

// winogradMeshAlgorithm returns the modelled machine's algorithm with the tiles of a strategy.
func winogradMeshAlgorithm(st shape.Strategy) Algorithm {
	return Algorithm{
		Name: st.String() + "-mesh", Doc: "a GEMM for each point, over the tiles of all images, on the CPE mesh of a modelled machine", Family: st, Asked: true,
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
