package plan

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/pointwise"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/winograd"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// Blocks reports whether images, and whether results, may be stored in blocks of channels.
func (c *Conv) Blocks() (in, out bool) {
	return c.fits(shape.Blocks, shape.Planes), c.fits(shape.Planes, shape.Blocks)
}

// Rounds reports whether the algorithm of Forward can read images, and whether it can write results, in rounded blocks in the place of blocks.
// Without images no algorithm computes anything, and later ones may be computed by one that cannot.
func (c *Conv) Rounds() (in, out bool) {
	best := c.does[shape.Forward].doing()
	if best == nil || !best.Algorithm.Stores {
		return false, false
	}
	can := func(images, results shape.Layout) bool {
		p := c.problem(shape.Forward)
		p.Images, p.Results = images, results
		return best.Algorithm.Refuses(&p) == nil
	}
	images, results := c.layouts[0], c.layouts[1]
	return images == shape.Blocks && can(shape.RoundedBlocks, results), results == shape.Blocks && can(images, shape.RoundedBlocks)
}

// turnWork bounds the cost of an algorithm on blocks relative to the chosen algorithm on planes. A somewhat slower algorithm is accepted
// because it saves a layout conversion.
const turnWork = 1.25 / winograd.Gain

// fits reports whether all directions that run support these layouts at about the same speed as planes. Kernels whose tiles come by DMA read planes.
func (c *Conv) fits(images, results shape.Layout) bool {
	if c.machine.HasDMA() {
		return false
	}
	for _, d := range c.directions() {
		planes := c.problem(d)
		planes.Images, planes.Results = shape.Planes, shape.Planes
		p := planes
		p.Images, p.Results = images, results
		before, err := c.choose(&planes)
		if err != nil {
			return false
		}
		after, err := c.choose(&p)
		if err != nil {
			return false
		}
		a, b := after.Algorithm, before.Algorithm
		if images != shape.Planes && readsPlanes(&planes, b) && !(a == b && readsBlocks(&p, a)) {
			return false
		}
		switch f := c.forced[d]; {
		case named(f, before) && a != b:
			return false
		case named(f, after):
			continue
		}
		if a.Family != b.Family && !(c.free && a.Cost(&p) < turnWork*b.Cost(&planes)) {
			return false
		}
	}
	return true
}

// readsPlanes reports whether the algorithm for a problem reads images by planes and is as fast with results in blocks.
func readsPlanes(p *conv.Problem, a *conv.Algorithm) bool {
	images, results := a.Layouts(p)
	return images == shape.Planes && results == shape.Blocks ||
		p.Direction == shape.InputGradient && conv.FewChannels(&p.Shape) && !a.Family.IsWinograd()
}

// readsBlocks reports whether an algorithm reads the images of a problem in blocks.
func readsBlocks(p *conv.Problem, a *conv.Algorithm) bool {
	images, _ := a.Layouts(p)
	return images == shape.Blocks
}

// Strides returns the strides of the only pixels of blocked images that the convolution reads or gives a gradient. It returns 1, 1 if all
// pixels are read or written.
func (c *Conv) Strides() (h, w int) {
	if c.layouts[0] == shape.Planes || !pointwise.Blockable(&c.shape) {
		return 1, 1
	}
	return tiling.Two(c.shape.Stride, 1)
}

// Turns returns how many layout conversions between planes and blocks of channels one forward pass and one pass of both gradients make, and
// of how many values in all.
func (c *Conv) Turns() (times, values int) {
	return c.turns(c.shape.Out * tiling.Size(c.shape.OutSize()))
}

// turns is Turns, for convolutions that read or write the given number of result values per image.
func (c *Conv) turns(results int) (times, values int) {
	for _, d := range c.directions() {
		p, found := c.problem(d), c.does[d].now()
		inner, outer := found.Algorithm.Layouts(&p)
		if (inner == shape.Planes) != (p.Images == shape.Planes) {
			times, values = times+1, values+p.Shape.N*p.Shape.C*tiling.Size(p.Shape.In)
		}
		if (outer == shape.Planes) != (p.Results == shape.Planes) {
			times, values = times+1, values+p.Shape.N*results
		}
	}
	return times, values
}
