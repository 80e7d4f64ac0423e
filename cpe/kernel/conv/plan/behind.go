package plan

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/depthwise"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// Behind prepares this 1x1 convolution and the depthwise convolution behind it as one kernel (depthwise.Behind), for a net for inference. It returns nil if they are to be computed
// separately: the algorithms, by the cost model's choice, must be pointwise-blocked and depthwise-bands, with all images in blocks of channels, and the images between the two must
// take more than two core groups' caches; a few cores read smaller ones as fast as they make them.
func (c *Conv) Behind(second *Conv) *depthwise.Behind {
	first, ok := c.alone("pointwise-blocked")
	behind, both := second.alone("depthwise-bands")
	if !ok || !both || !first.Shape.Pointwise() || len(first.Shape.In) != 2 || behind.Shape.Out != behind.Shape.C {
		return nil
	}
	if s := &behind.Shape; 4*s.N*s.C*tiling.Size(s.In) <= 2*c.spec.LDMBytes {
		return nil
	}
	return depthwise.NewBehind(c.machine, &first, &behind)
}

// alone returns the problem of Forward, and whether the net is for inference, images are in blocks of channels and an algorithm was chosen by the cost model.
func (c *Conv) alone(algorithm string) (conv.Problem, bool) {
	p := c.problem(shape.Forward)
	f := c.does[shape.Forward].doing()
	return p, f != nil && p.Inference && c.tuner == nil && !c.named() && f.Algorithm.Name == algorithm && p.Images == shape.Blocks && p.Results == shape.Blocks
}
