package conv

import (
	"errors"
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// algorithms are all ways to compute a direction of a convolution. The first of the list wins where several cost the same.
var algorithms = append(append(append([]Algorithm{
	{
		Name: "nothing", Doc: "computes nothing: there are no images or no results",
		Directions: []shape.Direction{shape.Forward, shape.WeightGradient, shape.InputGradient},
		Supports:   func(*Problem) error { return errors.New("there is something to compute") },
		Cost:       func(*Problem) float64 { return 0 },
		Kernel:     func(*cpe.Machine, *Problem) (Kernel, error) { return noKernel{}, nil },
	},
	{
		Name: "covering", Doc: "one matrix product: kernels are as large as images", Family: shape.Implicit,
		Directions: []shape.Direction{shape.Forward, shape.WeightGradient, shape.InputGradient},
		Supports: func(p *Problem) error {
			return firstReason(onHost(p), inPlanes(p), unless(covers(&p.Shape), "kernels of %v do not cover images of %v", p.Shape.Kernel, p.Shape.In))
		},
		Cost:   productCost,
		Kernel: func(m *cpe.Machine, p *Problem) (Kernel, error) { return newCovering(m, p) },
	},
	{
		Name: "pointwise-blocked", Doc: "multiplies images in blocks of channels where they lie: kernels are 1x1", Family: shape.Implicit,
		Directions: []shape.Direction{shape.Forward, shape.InputGradient}, Supports: pointwiseInBlocks, Cost: productCost, Works: worksInBlocks,
		Can: func(p *Problem) Abilities {
			can := AddImages
			if p.Direction == shape.Forward {
				can = FloorResults
				if p.Results == Blocks {
					can |= FinishResults
				}
			}
			return can
		},
		Kernel: staged(newBlockedPointwise),
	},
	{
		Name: "pointwise-blocked-weights", Doc: "the weights' gradient of a 1x1 kernel from images in blocks of channels", Family: shape.Implicit,
		Directions: []shape.Direction{shape.WeightGradient}, Supports: pointwiseInBlocks, Cost: productCost, Works: worksInBlocks,
		Can: only(SetWeights), Kernel: staged(newBlockedPointwise),
	},
	{
		Name: "depthwise-bands", Doc: "convolves bands of a block of channels, each with kernels of its own", Family: shape.Implicit,
		Directions: []shape.Direction{shape.Forward, shape.InputGradient}, Supports: depthwiseChannels, Cost: vectorCost, Works: worksInBlocks,
		Can: only(FloorResults), Kernel: staged(newDepthwiseConv),
	},
	{
		Name: "depthwise-weights", Doc: "the weights' gradient where every channel has kernels of its own", Family: shape.Implicit,
		Directions: []shape.Direction{shape.WeightGradient}, Supports: depthwiseChannels, Cost: vectorCost, Works: worksInBlocks,
		Can: only(SetWeights), Kernel: staged(newDepthwiseWeights),
	},
	{
		Name: "planes", Doc: "makes vectors of pixels from a copy of the image for each kernel column: output channels would not fill vectors", Family: shape.Implicit,
		Directions: []shape.Direction{shape.Forward},
		Supports: func(p *Problem) error {
			return firstReason(onHost(p), inPlanes(p), fewChannels(p), unless(byPlanes(&p.Shape), "vectors of %d output channels are no emptier than vectors of pixels", p.Shape.Out))
		},
		Cost: offsetCost, Can: only(FloorResults),
		Kernel: staged(func(t *task) error { newPlaneConv(t); return nil }),
	},
	{
		Name: "offsets", Doc: "makes vectors of output channels from a padded band, value by value: images have few channels or few pixels", Family: shape.Implicit,
		Directions: []shape.Direction{shape.Forward}, Supports: byVectors,
		Declines: func(p *Problem) error {
			return unless(p.Results != Planes || !byPlanes(&p.Shape), "vectors of %d output channels are emptier than vectors of pixels", p.Shape.Out)
		},
		Cost: offsetCost, Works: resultsInBlocks, Can: only(FloorResults), Kernel: staged(newOffsetConv),
	},
	{
		Name: "offsets-weights", Doc: "the weights' gradient in vectors of output channels", Family: shape.Implicit,
		Directions: []shape.Direction{shape.WeightGradient}, Supports: byVectors, Cost: offsetCost, Works: resultsInBlocks,
		Can: only(SetWeights | SumBiases), Kernel: staged(func(t *task) error { return newOffsetWeights(t, nil) }),
	},
	{
		Name: "thinned", Doc: "gathers the pixels that the strides of a 1x1 kernel meet, and multiplies them", Family: shape.Implicit,
		Directions: []shape.Direction{shape.Forward, shape.WeightGradient, shape.InputGradient},
		Supports: func(p *Problem) error {
			return firstReason(onHost(p), inPlanes(p), unless(thinnable(p.Shape), "it is for 1x1 kernels with strides and without padding"))
		},
		Cost:   productCost,
		Can:    func(p *Problem) Abilities { return gradientsOnly(p, AddImages) },
		Kernel: newThinnedConv,
	},
	{
		Name: "implicit-phases", Doc: "computes the images' gradient apart for each remainder of the pixels' places by the strides", Family: shape.Implicit,
		Directions: []shape.Direction{shape.InputGradient},
		Supports: func(p *Problem) error {
			return firstReason(onHost(p), inPlanes(p), unless(phased(&p.Shape), "it is for kernels larger than 1x1 with strides, no longer than the image, over one or two axes"))
		},
		Cost:   func(p *Problem) float64 { return phasedWork(&p.Shape) },
		Kernel: staged(newPhasedConv),
	},
	{
		Name: "implicit-spread", Doc: "multiplies for all kernel offsets and adds each product to the images' gradient at its shift: pixels are few", Family: shape.Implicit,
		Directions: []shape.Direction{shape.InputGradient},
		Supports: func(p *Problem) error {
			return firstReason(onHost(p), inPlanes(p), unless(spreads(&p.Shape), "it is for %d pixels at most, one group, and strides and dilations of 1", fewPixels))
		},
		Cost:   func(p *Problem) float64 { return spreadWork(&p.Shape) },
		Kernel: staged(newSpreadConv),
	},
	{
		Name: "implicit-pointwise", Doc: "multiplies the images of the whole batch where they lie: kernels are 1x1", Family: shape.Implicit,
		Directions: []shape.Direction{shape.Forward, shape.WeightGradient, shape.InputGradient},
		Supports: func(p *Problem) error {
			return firstReason(onHost(p), inPlanes(p), unless(p.Shape.Pointwise(), "it is for 1x1 kernels without strides or padding"))
		},
		Declines: betterSuited, Cost: productCost,
		Can:    func(p *Problem) Abilities { return gradientsOnly(p, AddImages) },
		Kernel: staged(newImplicitConv),
	},
	{
		Name: "implicit-gathered", Doc: "packs panels of the column matrix straight from the images of the whole batch", Family: shape.Implicit,
		Directions: []shape.Direction{shape.Forward, shape.WeightGradient, shape.InputGradient},
		Supports: func(p *Problem) error {
			return firstReason(onHost(p), inPlanes(p), stepByStep(p), unless(!p.Shape.Pointwise(), "1x1 kernels need no column matrix"),
				unless(!shiftable(p.Shape), "a kernel offset is a shift of a padded copy, from which panels are packed faster"))
		},
		Declines: betterSuited, Cost: productCost, Kernel: staged(newImplicitConv),
	},
	{
		Name: "implicit-shifted-weights", Doc: "sums the weights' gradient over padded bands, in which every kernel offset is a shift", Family: shape.Implicit,
		Directions: []shape.Direction{shape.WeightGradient},
		Supports:   func(p *Problem) error { return firstReason(onHost(p), inPlanes(p), byShifts(p)) },
		Declines:   betterSuited, Cost: productCost, Kernel: staged(newShiftedWeights),
	},
	{
		Name: "implicit-padded", Doc: "copies padded images, in which every kernel offset is a shift, and multiplies what it reads there", Family: shape.Implicit,
		Directions: []shape.Direction{shape.Forward, shape.InputGradient},
		Supports:   func(p *Problem) error { return firstReason(onHost(p), inPlanes(p), stepByStep(p), byShifts(p)) },
		Declines:   betterSuited, Cost: productCost, Kernel: staged(newPaddedConv),
	},
}, winogradAlgorithms()...), explicitAlgorithms()...), meshAlgorithms()...)

// explicitAlgorithms are those that multiply column matrices in memory.
func explicitAlgorithms() []Algorithm {
	all := []shape.Direction{shape.Forward, shape.WeightGradient, shape.InputGradient}
	list := []Algorithm{
		{
			Name: "explicit-pointwise", Doc: "multiplies images themselves, image by image: kernels are 1x1",
			Supports: func(p *Problem) error {
				return firstReason(inPlanes(p), unless(p.Shape.Pointwise(), "it is for 1x1 kernels without strides or padding"))
			},
		},
		{
			Name: "explicit-batched", Doc: "writes the column matrices of all images of a core group before it multiplies",
			Supports: func(p *Problem) error {
				return firstReason(inPlanes(p), unless(!p.Shape.Pointwise(), "1x1 kernels need no column matrix"),
					unless(batchedImages(p) > 0, "the machine's software does not batch images so, or a line of all of them does not fit LDM"))
			},
		},
		{
			Name: "explicit-gemm", Doc: "writes the column matrix of a band of outputs (im2col) and multiplies",
			Supports: func(p *Problem) error {
				return firstReason(inPlanes(p), unless(!p.Shape.Pointwise(), "1x1 kernels need no column matrix"),
					unless(batchedImages(p) == 0, "the machine's software batches the images of a core group"))
			},
		},
	}
	for i := range list {
		a := &list[i]
		a.Family, a.Directions, a.Cost, a.Kernel = shape.Explicit, all, explicitCost, staged(newExplicitConv)
		a.Declines = func(p *Problem) error {
			return unless(!p.native() || p.Direction == shape.InputGradient && phased(&p.Shape), "an implicit algorithm computes the same without a column matrix in memory")
		}
	}
	return list
}

// meshAlgorithms are the implicit ones of modelled machines.
func meshAlgorithms() []Algorithm {
	all := []shape.Direction{shape.Forward, shape.WeightGradient, shape.InputGradient}
	unpublished := func(p *Problem) error {
		return unless(Published(p.Shape, p.Spec, p.Direction), "the published kernels do not take %d to %d channels in %d groups and %d images", p.Shape.C, p.Shape.Out, p.Shape.Group, p.Shape.N)
	}
	return []Algorithm{
		{
			Name: "mesh-taps", Doc: "the original swCaffe's: each pixel is fetched once, and the weights of its kernel offsets each time", Family: shape.Implicit,
			Directions: all, Declines: unpublished, Kernel: staged(newTapConv),
			Supports: func(p *Problem) error {
				return firstReason(onModel(p), inPlanes(p), stepByStep(p), unless(p.Spec.Software.Unbuffered, "the machine's software is a later one"),
					unless(tapShape(p.Shape, p.Spec, p.Direction), "the matrices of a pixel do not fit LDM"))
			},
		},
		{
			Name: "mesh-rows", Doc: "mesh-batch with all images in each product; core groups share rows", Family: shape.Implicit,
			Directions: all, Declines: unpublished, Kernel: staged(newBatchConv),
			Supports: func(p *Problem) error {
				return firstReason(onModel(p), inPlanes(p), stepByStep(p), buffered(p),
					unless(sharesRows(p.Shape, p.Spec, p.Direction), "core groups share images: the published kernels take the shape, or there are too few rows"))
			},
		},
		{
			Name: "mesh-batch", Doc: "swDNN's: each position is a product of weights and a core group's images", Family: shape.Implicit,
			Directions: all, Declines: unpublished, Kernel: staged(newBatchConv),
			Supports: func(p *Problem) error {
				return firstReason(onModel(p), inPlanes(p), stepByStep(p), buffered(p),
					unless(!sharesRows(p.Shape, p.Spec, p.Direction), "core groups share rows"))
			},
		},
	}
}

// firstReason returns the first reason that is one.
func firstReason(reasons ...error) error {
	for _, r := range reasons {
		if r != nil {
			return r
		}
	}
	return nil
}

// unless returns a reason if a condition does not hold.
func unless(holds bool, reason string, values ...any) error {
	if holds {
		return nil
	}
	return fmt.Errorf(reason, values...)
}

func onHost(p *Problem) error { return unless(p.native(), "it runs on this computer alone") }
func onModel(p *Problem) error {
	return unless(!p.native(), "it runs on the mesh of a modelled machine")
}

func inPlanes(p *Problem) error {
	return unless(p.planes(), "it reads and writes planes; images lie in %v, results in %v", p.Images, p.Results)
}

func stepByStep(p *Problem) error {
	return unless(p.Direction != shape.InputGradient || p.Shape.UnitStride(), "with strides of %v the images' gradient is no convolution of the results'", p.Shape.Stride)
}

func byShifts(p *Problem) error {
	return unless(shiftable(p.Shape), "a kernel offset is no shift of a padded copy: kernels are 1x1, axes more than two, or strides or dilations far longer than kernels")
}

func buffered(p *Problem) error {
	return unless(!p.Spec.Software.Unbuffered, "the machine's software is an earlier one")
}

func pointwiseInBlocks(p *Problem) error {
	s := &p.Shape
	return firstReason(onHost(p), unless(!p.planes(), "neither images nor results lie in blocks of channels"),
		unless(blockedPointwise(s), "it is for 1x1 kernels without padding, of one group, over one or two axes"),
		wholeBlocks(p.Images, s.C), wholeBlocks(p.Results, s.Out))
}

// wholeBlocks refuses channels that fill no whole blocks.
func wholeBlocks(l Layout, channels int) error {
	return unless(l == Planes || channels%shape.BlockLanes == 0, "%d channels fill no whole blocks of %d", channels, shape.BlockLanes)
}

func depthwiseChannels(p *Problem) error {
	s := &p.Shape
	return firstReason(onHost(p), unless(depthwise(s), "it is for as many groups as channels and kernels larger than 1x1, over one or two axes"),
		unless(p.planes() || s.Out == s.C, "%d outputs of %d channels are computed by planes alone", s.Out, s.C),
		wholeBlocks(p.Images, s.C), wholeBlocks(p.Results, s.Out))
}

// fewChannels refuses shapes that vectors of output channels do not suit.
func fewChannels(p *Problem) error {
	return unless(byOffsets(&p.Shape), "it is for images of less than %d channels or few pixels, one group, no dilation, and %d outputs or more", manyChannels, someOutputs)
}

func byVectors(p *Problem) error {
	return firstReason(onHost(p), unless(p.Images == Planes, "it reads planes; images lie in %v", p.Images), fewChannels(p), wholeBlocks(p.Results, p.Shape.Out))
}

// betterSuited names an algorithm that a general one leaves a shape to.
func betterSuited(p *Problem) error {
	s := &p.Shape
	switch {
	case covers(s):
		return errors.New("kernels are as large as images: see covering")
	case depthwise(s):
		return errors.New("every channel has kernels of its own: see depthwise-bands")
	case p.Direction != shape.InputGradient && byOffsets(s):
		return errors.New("channels or pixels are few: see offsets")
	case thinnable(*s):
		return errors.New("a 1x1 kernel with strides reads few pixels: see thinned")
	case p.Direction == shape.InputGradient && spreads(s):
		return errors.New("pixels are few: see implicit-spread")
	}
	return nil
}

// only returns the same abilities for every problem.
func only(a Abilities) func(*Problem) Abilities { return func(*Problem) Abilities { return a } }

// gradientsOnly returns abilities of an images' gradient.
func gradientsOnly(p *Problem, a Abilities) Abilities {
	if p.Direction != shape.InputGradient {
		return 0
	}
	return a
}

func worksInBlocks(*Problem) (images, results Layout)   { return Blocks, Blocks }
func resultsInBlocks(*Problem) (images, results Layout) { return Planes, Blocks }
