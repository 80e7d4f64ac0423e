package conv

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// FirstReason returns the first reason that is not nil, or nil.
func FirstReason(reasons ...error) error {
	for _, r := range reasons {
		if r != nil {
			return r
		}
	}
	return nil
}

// Unless returns nil if a condition holds, else the reason as an error. Few of the reasons for which algorithms refuse problems are ever
// printed, so that the error's text is formatted when it is asked for.
func Unless(holds bool, reason string, values ...any) error {
	if holds {
		return nil
	}
	return &refusal{reason, values}
}

// refusal is an error whose text is formatted late. The values must not change.
type refusal struct {
	format string
	values []any
}

func (r *refusal) Error() string { return fmt.Sprintf(r.format, r.values...) }

// OnHost refuses problems for modelled machines.
func OnHost(p *Problem) error {
	return Unless(p.Native(), "it runs only on this computer, not on modelled machines")
}

// OnModel refuses problems for the host.
func OnModel(p *Problem) error {
	return Unless(!p.Native(), "it runs only on the mesh of a modelled machine")
}

// InPlanes refuses images and results in blocks of channels.
func InPlanes(p *Problem) error {
	return Unless(p.AllPlanes(), "it reads and writes only planes; images are in %v, results in %v", p.Images, p.Results)
}

// NotStrided refuses input gradients with strides, which are no convolutions of the results.
func NotStrided(p *Problem) error {
	return Unless(p.Direction != shape.InputGradient || p.Shape.UnitStride(), "with strides of %v the input gradient is not a convolution", p.Shape.Stride)
}

// WholeBlocks refuses blocks of channels if the number of channels is not a multiple of 16.
func WholeBlocks(l Layout, channels int) error {
	return Unless(l == Planes || channels%shape.BlockLanes == 0, "%d channels are not a multiple of the %d of a block", channels, shape.BlockLanes)
}

// Only returns a Can function with the same abilities for every problem.
func Only(a Abilities) func(*Problem) Abilities { return func(*Problem) Abilities { return a } }

// InputGradientOnly returns the abilities for input gradients, none for other directions.
func InputGradientOnly(p *Problem, a Abilities) Abilities {
	if p.Direction != shape.InputGradient {
		return 0
	}
	return a
}

// ComputesInBlocks is the Works function of algorithms that compute in blocks of channels.
func ComputesInBlocks(*Problem) (images, results Layout) { return Blocks, Blocks }

// ReadsPlanes is the Works function of algorithms that read planes and compute results in blocks of channels.
func ReadsPlanes(*Problem) (images, results Layout) { return Planes, Blocks }
