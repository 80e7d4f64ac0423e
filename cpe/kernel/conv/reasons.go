package conv

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

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

// wholeBlocks refuses blocks of channels if the number of channels is not a multiple of 16.
func wholeBlocks(l Layout, channels int) error {
	return unless(l == Planes || channels%shape.BlockLanes == 0, "%d channels are not a multiple of the %d of a block", channels, shape.BlockLanes)
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
