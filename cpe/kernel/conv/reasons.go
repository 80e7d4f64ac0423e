package conv

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/factors"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// InPlanes refuses images and results in blocks of channels.
func InPlanes(p *Problem) error {
	return op.Unless(p.AllPlanes(), "it reads and writes only planes; images are in %v, results in %v", p.Images, p.Results)
}

// NotStrided refuses input gradients with strides, which are no convolutions of the results.
func NotStrided(p *Problem) error {
	return op.Unless(p.Direction != shape.InputGradient || p.Shape.UnitStride(), "with strides of %v the input gradient is not a convolution", p.Shape.Stride)
}

// WholeBlocks refuses blocks of channels if the number of channels is not a multiple of 16, and rounded ones if it is not a multiple of 32.
func WholeBlocks(l shape.Layout, channels int) error {
	lanes := shape.BlockLanes
	if l == shape.RoundedBlocks {
		lanes = factors.BFloat16.Block()
	}
	return op.Unless(l == shape.Planes || channels%lanes == 0, "%d channels are not a multiple of the %d of a block", channels, lanes)
}

// StepsForward are the steps of kernels that compute results in blocks of channels: they floor all results, and finish those that stay in blocks.
func StepsForward(p *Problem, s op.Step) error {
	switch {
	case p.Direction != shape.Forward:
		return op.Among(s)
	case s == op.Post:
		return op.Unless(p.Results == shape.Blocks || p.Results == shape.RoundedBlocks, "it turns its results to planes as it stores them")
	}
	return op.Among(s, op.Floor)
}

// ComputesInBlocks is the Works function of algorithms that compute in blocks of channels.
func ComputesInBlocks(*Problem) (images, results shape.Layout) { return shape.Blocks, shape.Blocks }

// ReadsPlanes is the Works function of algorithms that read planes and compute results in blocks of channels.
func ReadsPlanes(*Problem) (images, results shape.Layout) { return shape.Planes, shape.Blocks }
