package conv

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// Blocks reports whether images, and results, may lie in blocks of channels.
func (c *Conv) Blocks() (in, out bool) {
	return c.fits(Blocks, Planes), c.fits(Planes, Blocks)
}

// turnWork is how many times the work of the algorithm that was chosen another may have that spares turning images to blocks.
const turnWork = 1.25 / gain

// fits reports whether all directions can be computed, and about as fast, if images and results lie so.
func (c *Conv) fits(images, results Layout) bool {
	if !c.machine.Native() {
		return false
	}
	for d := range shape.Direction(3) {
		planes := c.problem(d)
		planes.Images, planes.Results = Planes, Planes
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
		a, b := after.algorithm, before.algorithm
		if images != Planes && readsPlanes(&planes, b) {
			return false
		}
		if a.Family != b.Family && !(c.free && a.Cost(&p) < turnWork*b.Cost(&planes)) {
			return false
		}
	}
	return true
}

// readsPlanes reports whether an algorithm that reads images by planes, and is as fast with results in blocks, computes a problem.
func readsPlanes(p *Problem, a *Algorithm) bool {
	images, results := a.works(p)
	return images == Planes && results == Blocks ||
		p.Direction == shape.InputGradient && byOffsets(&p.Shape) && !a.Family.IsWinograd()
}

// Strides returns which pixels of the images, which lie in blocks, are all that the convolution reads or gives a gradient; ones if these are
// all, or others are written as well.
func (c *Conv) Strides() (h, w int) {
	if c.layouts[0] == Planes || !blockedPointwise(&c.shape) {
		return 1, 1
	}
	return tiling.Two(c.shape.Stride, 1)
}

// Turns returns how often a forward pass and one for both gradients bring images or results from planes to blocks of channels or
// back, and for how many values.
func (c *Conv) Turns() (times, values int) {
	return c.turns(c.shape.Out * tiling.Size(c.shape.OutSize()))
}

// turns is Turns where so many values are read or written of the results of an image.
func (c *Conv) turns(results int) (times, values int) {
	for d := range shape.Direction(3) {
		p, found := c.problem(d), c.does[d].now()
		inner, outer := found.algorithm.works(&p)
		if (inner == Planes) != (p.Images == Planes) {
			times, values = times+1, values+p.Shape.N*p.Shape.C*tiling.Size(p.Shape.In)
		}
		if (outer == Planes) != (p.Results == Planes) {
			times, values = times+1, values+p.Shape.N*results
		}
	}
	return times, values
}
