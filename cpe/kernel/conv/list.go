package conv

import (
	"errors"
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// algorithms lists all algorithms. Of several that cost the same, the first is chosen.
var algorithms = append(append(append([]Algorithm{
	{
		Name: "nothing", Doc: "computes nothing: the batch or the results are empty",
		Directions: []shape.Direction{shape.Forward, shape.WeightGradient, shape.InputGradient},
		Supports:   func(*Problem) error { return errors.New("the problem is not empty") },
		Cost:       func(*Problem) float64 { return 0 },
		Kernel:     func(*cpe.Machine, *Problem) (Kernel, error) { return noKernel{}, nil },
	},
	{
		Name: "covering", Doc: "one GEMM, for kernels as large as the image", Family: shape.Implicit,
		Directions: []shape.Direction{shape.Forward, shape.WeightGradient, shape.InputGradient},
		Supports: func(p *Problem) error {
			return firstReason(onHost(p), inPlanes(p), unless(covers(&p.Shape), "kernels of %v are not as large as images of %v, or there is padding or more than one group", p.Shape.Kernel, p.Shape.In))
		},
		Cost:   productCost,
		Kernel: func(m *cpe.Machine, p *Problem) (Kernel, error) { return newCovering(m, p) },
	},
	{
		Name: "pointwise-blocked", Doc: "GEMM on images in blocks of channels, read in place, for 1x1 kernels", Family: shape.Implicit,
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
		Name: "pointwise-blocked-weights", Doc: "the weight gradient of 1x1 kernels from images in blocks of channels", Family: shape.Implicit,
		Directions: []shape.Direction{shape.WeightGradient}, Supports: pointwiseInBlocks, Cost: productCost, Works: worksInBlocks,
		Can: only(SetWeights), Kernel: staged(newBlockedPointwise),
	},
	{
		Name: "depthwise-bands", Doc: "depthwise convolution in bands of blocks of channels", Family: shape.Implicit,
		Directions: []shape.Direction{shape.Forward, shape.InputGradient}, Supports: depthwiseChannels, Cost: vectorCost, Works: worksInBlocks,
		Can: only(FloorResults), Kernel: staged(newDepthwiseConv),
	},
	{
		Name: "depthwise-weights", Doc: "the weight gradient of a depthwise convolution", Family: shape.Implicit,
		Directions: []shape.Direction{shape.WeightGradient}, Supports: depthwiseChannels, Cost: vectorCost, Works: worksInBlocks,
		Can: only(SetWeights), Kernel: staged(newDepthwiseWeights),
	},
	{
		Name: "planes", Doc: "vectors of pixels, from a copy of the image for each kernel column, where output channels would not fill vectors", Family: shape.Implicit,
		Directions: []shape.Direction{shape.Forward},
		Supports: func(p *Problem) error {
			return firstReason(onHost(p), inPlanes(p), fewChannels(p), unless(byPlanes(&p.Shape), "vectors of pixels would waste as many lanes as vectors of %d output channels, or strides are not 1", p.Shape.Out))
		},
		Cost: offsetCost, Can: only(FloorResults),
		Kernel: staged(func(t *task) error { newPlaneConv(t); return nil }),
	},
	{
		Name: "offsets", Doc: "vectors of output channels, from single values of a padded band, for images of few channels or few pixels", Family: shape.Implicit,
		Directions: []shape.Direction{shape.Forward}, Supports: byVectors,
		Declines: func(p *Problem) error {
			return unless(p.Results != Planes || !byPlanes(&p.Shape), "vectors of %d output channels waste more lanes than vectors of pixels", p.Shape.Out)
		},
		Cost: offsetCost, Works: resultsInBlocks, Can: only(FloorResults), Kernel: staged(newOffsetConv),
	},
	{
		Name: "offsets-weights", Doc: "the weight gradient in vectors of output channels", Family: shape.Implicit,
		Directions: []shape.Direction{shape.WeightGradient}, Supports: byVectors, Cost: offsetCost, Works: resultsInBlocks,
		Can: only(SetWeights | SumBiases), Kernel: staged(func(t *task) error { return newOffsetWeights(t, nil) }),
	},
	{
		Name: "thinned", Doc: "gathers the pixels at multiples of the stride, then a GEMM, for strided 1x1 kernels", Family: shape.Implicit,
		Directions: []shape.Direction{shape.Forward, shape.WeightGradient, shape.InputGradient},
		Supports: func(p *Problem) error {
			return firstReason(onHost(p), inPlanes(p), unless(thinnable(p.Shape), "it computes only 1x1 kernels with strides and without padding"))
		},
		Cost:   productCost,
		Can:    func(p *Problem) Abilities { return gradientsOnly(p, AddImages) },
		Kernel: newThinnedConv,
	},
	{
		Name: "implicit-phases", Doc: "the input gradient of strided convolutions, by the remainders of pixel coordinates modulo the strides", Family: shape.Implicit,
		Directions: []shape.Direction{shape.InputGradient},
		Supports: func(p *Problem) error {
			return firstReason(onHost(p), inPlanes(p), unless(phased(&p.Shape), "it computes only kernels larger than 1x1 over one or two axes, with strides that are no longer than the image"))
		},
		Cost:   func(p *Problem) float64 { return phasedWork(&p.Shape) },
		Kernel: staged(newPhasedConv),
	},
	{
		Name: "implicit-spread", Doc: "GEMM for all kernel offsets, then adds the shifted products (col2im), for few pixels", Family: shape.Implicit,
		Directions: []shape.Direction{shape.InputGradient},
		Supports: func(p *Problem) error {
			return firstReason(onHost(p), inPlanes(p), unless(spreads(&p.Shape), "it computes only results of at most %d pixels, one group, strides and dilations of 1, and few weights", fewPixels))
		},
		Cost:   func(p *Problem) float64 { return spreadWork(&p.Shape) },
		Kernel: staged(newSpreadConv),
	},
	{
		Name: "implicit-pointwise", Doc: "one GEMM on the images of the whole batch, read in place, for 1x1 kernels", Family: shape.Implicit,
		Directions: []shape.Direction{shape.Forward, shape.WeightGradient, shape.InputGradient},
		Supports: func(p *Problem) error {
			return firstReason(onHost(p), inPlanes(p), unless(p.Shape.Pointwise(), "it computes only 1x1 kernels without strides or padding"))
		},
		Declines: betterSuited, Cost: productCost,
		Can:    func(p *Problem) Abilities { return gradientsOnly(p, AddImages) },
		Kernel: staged(newImplicitConv),
	},
	{
		Name: "implicit-gathered", Doc: "implicit GEMM: packs panels of the column matrix straight from the images of the whole batch", Family: shape.Implicit,
		Directions: []shape.Direction{shape.Forward, shape.WeightGradient, shape.InputGradient},
		Supports: func(p *Problem) error {
			return firstReason(onHost(p), inPlanes(p), stepByStep(p), unless(!p.Shape.Pointwise(), "1x1 kernels need no column matrix"),
				unless(!shiftable(p.Shape), "kernel offsets are shifts of a padded copy, from which panels are packed faster"))
		},
		Declines: betterSuited, Cost: productCost, Kernel: staged(newImplicitConv),
	},
	{
		Name: "implicit-shifted-weights", Doc: "the weight gradient, summed over padded bands in which every kernel offset is a shift", Family: shape.Implicit,
		Directions: []shape.Direction{shape.WeightGradient},
		Supports:   func(p *Problem) error { return firstReason(onHost(p), inPlanes(p), byShifts(p)) },
		Declines:   betterSuited, Cost: productCost, Kernel: staged(newShiftedWeights),
	},
	{
		Name: "implicit-padded", Doc: "GEMM on padded copies of the images, in which every kernel offset is a shift", Family: shape.Implicit,
		Directions: []shape.Direction{shape.Forward, shape.InputGradient},
		Supports:   func(p *Problem) error { return firstReason(onHost(p), inPlanes(p), stepByStep(p), byShifts(p)) },
		Declines:   betterSuited, Cost: productCost, Kernel: staged(newPaddedConv),
	},
}, winogradAlgorithms()...), explicitAlgorithms()...), meshAlgorithms()...)

// explicitAlgorithms lists the algorithms that write column matrices to memory (im2col) and multiply them.
func explicitAlgorithms() []Algorithm {
	all := []shape.Direction{shape.Forward, shape.WeightGradient, shape.InputGradient}
	list := []Algorithm{
		{
			Name: "explicit-pointwise", Doc: "one GEMM for each image, read in place, for 1x1 kernels",
			Supports: func(p *Problem) error {
				return firstReason(inPlanes(p), unless(p.Shape.Pointwise(), "it computes only 1x1 kernels without strides or padding"))
			},
		},
		{
			Name: "explicit-batched", Doc: "im2col of all images of a core group, then GEMM",
			Supports: func(p *Problem) error {
				return firstReason(inPlanes(p), unless(!p.Shape.Pointwise(), "1x1 kernels need no column matrix"),
					unless(batchedImages(p) > 0, "the machine's software does not batch the images of a core group, or a line of all of them does not fit LDM"))
			},
		},
		{
			Name: "explicit-gemm", Doc: "im2col of a band of outputs, then GEMM",
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
			return unless(!p.native() || p.Direction == shape.InputGradient && phased(&p.Shape), "an implicit algorithm needs no column matrix in memory")
		}
	}
	return list
}

// meshAlgorithms lists the implicit algorithms of modelled machines.
func meshAlgorithms() []Algorithm {
	all := []shape.Direction{shape.Forward, shape.WeightGradient, shape.InputGradient}
	unpublished := func(p *Problem) error {
		return unless(Published(p.Shape, p.Spec, p.Direction), "the published kernels do not support %d to %d channels in %d groups and %d images", p.Shape.C, p.Shape.Out, p.Shape.Group, p.Shape.N)
	}
	return []Algorithm{
		{
			Name: "mesh-taps", Doc: "the original swCaffe's: fetches each pixel once, and the weights of a kernel offset for every product", Family: shape.Implicit,
			Directions: all, Declines: unpublished, Kernel: staged(newTapConv),
			Supports: func(p *Problem) error {
				return firstReason(onModel(p), inPlanes(p), stepByStep(p), unless(p.Spec.Software.Unbuffered, "the machine's software is newer than the original swCaffe's"),
					unless(tapShape(p.Shape, p.Spec, p.Direction), "the matrices of a pixel do not fit LDM"))
			},
		},
		{
			Name: "mesh-rows", Doc: "mesh-batch with all images in each product; core groups share rows of results", Family: shape.Implicit,
			Directions: all, Declines: unpublished, Kernel: staged(newBatchConv),
			Supports: func(p *Problem) error {
				return firstReason(onModel(p), inPlanes(p), stepByStep(p), buffered(p),
					unless(sharesRows(p.Shape, p.Spec, p.Direction), "core groups share images here: the published kernels support the shape, or there are fewer rows than core groups"))
			},
		},
		{
			Name: "mesh-batch", Doc: "swDNN's: each position is a GEMM of weights and a core group's images", Family: shape.Implicit,
			Directions: all, Declines: unpublished, Kernel: staged(newBatchConv),
			Supports: func(p *Problem) error {
				return firstReason(onModel(p), inPlanes(p), stepByStep(p), buffered(p),
					unless(!sharesRows(p.Shape, p.Spec, p.Direction), "core groups share rows here, not images"))
			},
		},
	}
}

// firstReason returns the first reason that is not nil, or nil.
func firstReason(reasons ...error) error {
	for _, r := range reasons {
		if r != nil {
			return r
		}
	}
	return nil
}

// unless returns nil if a condition holds, else the reason as an error.
func unless(holds bool, reason string, values ...any) error {
	if holds {
		return nil
	}
	return fmt.Errorf(reason, values...)
}

func onHost(p *Problem) error {
	return unless(p.native(), "it runs only on this computer, not on modelled machines")
}
func onModel(p *Problem) error {
	return unless(!p.native(), "it runs only on the mesh of a modelled machine")
}

func inPlanes(p *Problem) error {
	return unless(p.planes(), "it reads and writes only planes; images are in %v, results in %v", p.Images, p.Results)
}

func stepByStep(p *Problem) error {
	return unless(p.Direction != shape.InputGradient || p.Shape.UnitStride(), "with strides of %v the input gradient is not a convolution", p.Shape.Stride)
}

func byShifts(p *Problem) error {
	return unless(shiftable(p.Shape), "kernel offsets are not shifts of a padded copy: kernels are 1x1, there are more than two axes, or strides or dilations are far larger than kernels")
}

func buffered(p *Problem) error {
	return unless(!p.Spec.Software.Unbuffered, "the machine's software is the original swCaffe's, which has no such kernel")
}

func pointwiseInBlocks(p *Problem) error {
	s := &p.Shape
	return firstReason(onHost(p), unless(!p.planes(), "neither images nor results are in blocks of channels"),
		unless(blockedPointwise(s), "it computes only 1x1 kernels without padding, of one group, over one or two axes"),
		wholeBlocks(p.Images, s.C), wholeBlocks(p.Results, s.Out))
}

// wholeBlocks refuses blocks of channels if the number of channels is not a multiple of 16.
func wholeBlocks(l Layout, channels int) error {
	return unless(l == Planes || channels%shape.BlockLanes == 0, "%d channels are not a multiple of the %d of a block", channels, shape.BlockLanes)
}

func depthwiseChannels(p *Problem) error {
	s := &p.Shape
	return firstReason(onHost(p), unless(depthwise(s), "it computes only depthwise convolutions (one channel a group) with kernels larger than 1x1, over one or two axes"),
		unless(p.planes() || s.Out == s.C, "%d output channels of %d input channels are computed only by planes", s.Out, s.C),
		wholeBlocks(p.Images, s.C), wholeBlocks(p.Results, s.Out))
}

// fewChannels refuses shapes that do not suit vectors of output channels.
func fewChannels(p *Problem) error {
	return unless(byOffsets(&p.Shape), "it computes only images of fewer than %d channels or of few pixels, one group, no dilation, and at least %d output channels", manyChannels, someOutputs)
}

func byVectors(p *Problem) error {
	return firstReason(onHost(p), unless(p.Images == Planes, "it reads only planes; images are in %v", p.Images), fewChannels(p), wholeBlocks(p.Results, p.Shape.Out))
}

// betterSuited makes general algorithms decline a shape for which there is a special one, and names that.
func betterSuited(p *Problem) error {
	s := &p.Shape
	switch {
	case covers(s):
		return errors.New("kernels are as large as images: covering is faster")
	case depthwise(s):
		return errors.New("the convolution is depthwise: depthwise-bands and depthwise-weights are faster")
	case p.Direction != shape.InputGradient && byOffsets(s):
		return errors.New("channels or pixels are few: offsets is faster")
	case thinnable(*s):
		return errors.New("a 1x1 kernel with strides reads few pixels: thinned is faster")
	case p.Direction == shape.InputGradient && spreads(s):
		return errors.New("pixels are few: implicit-spread is faster")
	}
	return nil
}

// only returns a Can function with the same abilities for every problem.
func only(a Abilities) func(*Problem) Abilities { return func(*Problem) Abilities { return a } }

// gradientsOnly returns the abilities for input gradients, none for other directions.
func gradientsOnly(p *Problem, a Abilities) Abilities {
	if p.Direction != shape.InputGradient {
		return 0
	}
	return a
}

func worksInBlocks(*Problem) (images, results Layout)   { return Blocks, Blocks }
func resultsInBlocks(*Problem) (images, results Layout) { return Planes, Blocks }
