package conv

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// Blocks reports whether images, and results, may lie in blocks of channels.
func (c *Conv) Blocks() (in, out bool) {
	s, planes, groups := &c.shape, false, 1
	for d := range shape.Direction(3) {
		st, ok := c.inBlocks(d)
		if !ok {
			return false, false
		}
		planes = planes || byOffsets(s) && !st.IsWinograd() || st.IsWinograd() && foldsImages(*s, d)
		if st.IsWinograd() {
			groups = s.Group
		}
	}
	return !planes && s.C/groups%shape.BlockLanes == 0, s.Out/groups%shape.BlockLanes == 0
}

// turnWork is how many times the work of the strategy that was chosen another may have that spares turning images to blocks.
const turnWork = 1.25

// inBlocks returns the strategy of a direction if images or results lie in blocks: the one that was chosen, if it can do with them, or
// Winograd's if that was free to choose and is not much slower. ok is false where there is none.
func (c *Conv) inBlocks(d shape.Direction) (st shape.Strategy, ok bool) {
	s, st := &c.shape, c.found.chosen[d]
	if !c.free || c.takesBlocks(d, st) {
		return st, c.takesBlocks(d, st)
	}
	spec := c.machine.Spec()
	best, work := leastWinograd(*s, &spec, d)
	return best, c.machine.Native() && work < turnWork*directWork(*s, d)
}

// takesBlocks reports whether a strategy can compute a direction if images, which may be said already, or results lie in blocks.
func (c *Conv) takesBlocks(d shape.Direction, st shape.Strategy) bool {
	few := byOffsets(&c.shape) && !c.blocked[0] && (d == shape.InputGradient || st == shape.Implicit)
	return c.machine.Native() && (st.IsWinograd() && c.wholeBlocks() || st == shape.Implicit && (blockedPointwise(&c.shape) || depthwise(&c.shape) && c.shape.Out == c.shape.C) || few)
}

// wholeBlocks reports whether every block of images, and of results, that lie so is of one group of channels.
func (c *Conv) wholeBlocks() bool {
	s := &c.shape
	return (!c.blocked[0] || s.C/s.Group%shape.BlockLanes == 0) && (!c.blocked[1] || s.Out/s.Group%shape.BlockLanes == 0)
}

// SetBlocks says whether images, and results, lie in blocks of channels from now on, in all directions; Blocks has said that they may.
func (c *Conv) SetBlocks(in, out bool) error {
	if c.blocked == [2]bool{in, out} {
		return nil
	}
	c.blocked, c.scratch = [2]bool{in, out}, [3]cpe.Scratch{}
	return c.takeStrategies()
}

// Strides returns which pixels of the images, which lie in blocks, are all that the convolution reads or gives a gradient; ones if these are
// all, or others are written as well.
func (c *Conv) Strides() (h, w int) {
	if !c.blocked[0] || !blockedPointwise(&c.shape) {
		return 1, 1
	}
	return tiling.Two(c.shape.Stride, 1)
}

// SetThin says whether those pixels stand, from now on, one behind another at the front of their planes (Thin), values and gradients.
func (c *Conv) SetThin(on bool) error {
	if c.thin == on {
		return nil
	}
	c.thin, c.scratch = on, [3]cpe.Scratch{}
	return c.takeStrategies()
}

// takeStrategies prepares all directions with the strategies that were chosen, for images and results as they lie, or with those that a
// tuner knows or finds.
func (c *Conv) takeStrategies() error {
	for d := range shape.Direction(3) {
		c.plan.Strategy[d] = c.found.chosen[d]
		if c.blocked != [2]bool{} {
			c.plan.Strategy[d], _ = c.inBlocks(d)
		}
		if err := c.take(d); err != nil {
			return err
		}
	}
	c.joinGrads()
	return nil
}

// take prepares a direction.
func (c *Conv) take(d shape.Direction) error {
	if c.tuner == nil {
		return c.prepare(d)
	}
	c.tuned[d] = &tuned{conv: c, direction: d}
	return c.tuned[d].settle()
}

// pointwiseBlocks reports whether a direction is computed as a pointwise convolution in blocks of channels.
func (c *Conv) pointwiseBlocks(d shape.Direction) bool {
	return c.blocked != [2]bool{} && c.plan.Strategy[d] == shape.Implicit && blockedPointwise(&c.shape)
}

// worksInBlocks reports whether a direction has images and results in blocks of channels as it works, however they lie.
func (c *Conv) worksInBlocks(d shape.Direction) bool {
	return c.plan.Strategy[d].IsWinograd() || c.pointwiseBlocks(d) || c.byTaps(d)
}

// byOffsets reports whether a direction is computed with vectors of output channels.
func (c *Conv) byOffsets(d shape.Direction) bool {
	return c.machine.Native() && d != shape.InputGradient && c.plan.Strategy[d] == shape.Implicit && byOffsets(&c.shape)
}

// makesPlanes reports whether a direction is computed with vectors of pixels.
func (c *Conv) makesPlanes(d shape.Direction) bool {
	return c.byOffsets(d) && d == shape.Forward && !c.blocked[1] && byPlanes(&c.shape)
}

// ForShape plans the same convolution of images of other extents, which lie alike, with the same strategies, or those that the tuner
// knows or finds.
func (c *Conv) ForShape(s shape.Conv) (*Conv, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	n, err := newConv(c.machine, s, &considered{chosen: c.found.chosen})
	if err != nil {
		return nil, err
	}
	n.free, n.tuner, n.blocked, n.thin = c.free, c.tuner, c.blocked, c.thin
	return n, n.takeStrategies()
}

// Turns returns how often a forward pass and one for both gradients bring images or results from planes to blocks of channels or
// back, and for how many values.
func (c *Conv) Turns() (times, values int) {
	for d := range c.plan.Strategy {
		for k, planes := range [2]int{c.shape.C * tiling.Size(c.shape.In), c.resultsOf()} {
			if c.turns(shape.Direction(d), k == 1) {
				times, values = times+1, values+c.shape.N*planes
			}
		}
	}
	return times, values
}

// resultsOf is the number of results of an image, or of what is pooled of them.
func (c *Conv) resultsOf() int {
	if p := c.pooled; p != nil {
		return p.shape.C * p.shape.OH * p.shape.OW
	}
	return c.shape.Out * tiling.Size(c.shape.OutSize())
}

// turns reports whether a direction turns images, or results.
func (c *Conv) turns(d shape.Direction, results bool) bool {
	switch {
	case !results:
		return !c.blocked[0] && c.worksInBlocks(d) && !c.folds(d)
	case c.planar(d):
		return c.blocked[1]
	}
	return !c.blocked[1] && (c.worksInBlocks(d) || c.byOffsets(d) && !c.makesPlanes(d))
}
