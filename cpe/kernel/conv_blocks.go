package kernel

import "github.com/swcaffe/swcaffe/cpe"

// Blocks reports whether images, and results, may lie in blocks of channels.
func (c *Conv) Blocks() (in, out bool) {
	for d := range Direction(3) {
		if _, ok := c.inBlocks(d); !ok {
			return false, false
		}
	}
	return c.shape.C/c.shape.Group%BlockLanes == 0, c.shape.Out/c.shape.Group%BlockLanes == 0
}

// turnWork is how many times the work of the strategy that was chosen another may have that spares turning images to blocks.
const turnWork = 1.25

// inBlocks returns the strategy of a direction if images or results lie in blocks: the one that was chosen, if it can do with them, or
// Winograd's if that was free to choose and is not much slower. ok is false where there is none.
func (c *Conv) inBlocks(d Direction) (st Strategy, ok bool) {
	s, st := &c.shape, c.found.chosen[d]
	switch {
	case !c.machine.Native() || c.trials[d] != nil:
		return st, false
	case st.isWinograd(), st == Implicit && s.blockedPointwise(), c.byOffsets(d):
		return st, true
	case c.planar(d):
		return st, true
	case !c.free:
		return st, false
	}
	spec := c.machine.Spec()
	best, work := s.leastWinograd(&spec, d)
	return best, work < turnWork*s.directWork(d)
}

// SetBlocks says whether images, and results, lie in blocks of channels from now on, in all directions; Blocks has said that they may.
func (c *Conv) SetBlocks(in, out bool) error {
	if c.blocked == [2]bool{in, out} {
		return nil
	}
	c.blocked, c.scratch = [2]bool{in, out}, [3]cpe.Scratch{}
	for d := range Direction(3) {
		c.plan.Strategy[d] = c.found.chosen[d]
		if in || out {
			c.plan.Strategy[d], _ = c.inBlocks(d)
		}
		if err := c.prepare(d); err != nil {
			return err
		}
	}
	return nil
}

// pointwiseBlocks reports whether a direction is computed as a pointwise convolution in blocks of channels.
func (c *Conv) pointwiseBlocks(d Direction) bool {
	return c.blocked != [2]bool{} && c.plan.Strategy[d] == Implicit && c.shape.blockedPointwise()
}

// byOffsets reports whether a direction is computed with vectors of output channels.
func (c *Conv) byOffsets(d Direction) bool {
	return c.machine.Native() && d != InputGradient && c.plan.Strategy[d] == Implicit && c.shape.fewChannels()
}

// ForShape plans the same convolution of images of other extents, which lie alike, with the same strategies.
func (c *Conv) ForShape(s ConvShape) (*Conv, error) {
	n, err := newConv(c.machine, s, &considered{chosen: c.found.chosen}, Forward, WeightGradient, InputGradient)
	if err != nil {
		return nil, err
	}
	n.free = c.free
	return n, n.SetBlocks(c.blocked[0], c.blocked[1])
}

// Turns returns how often a forward pass and one for both gradients bring images or results from planes to blocks of channels or
// back, and for how many values.
func (c *Conv) Turns() (times, values int) {
	for d := range c.plan.Strategy {
		for k, planes := range [2]int{c.shape.C * size(c.shape.In), c.shape.Out * size(c.shape.OutSize())} {
			if c.turns(Direction(d), k == 1) {
				times, values = times+1, values+c.shape.N*planes
			}
		}
	}
	return times, values
}

// turns reports whether a direction turns images, or results.
func (c *Conv) turns(d Direction, results bool) bool {
	switch {
	case !results:
		return !c.blocked[0] && (c.plan.Strategy[d].isWinograd() || c.pointwiseBlocks(d))
	case c.planar(d):
		return c.blocked[1]
	}
	return !c.blocked[1] && (c.plan.Strategy[d].isWinograd() || c.pointwiseBlocks(d) || c.byOffsets(d))
}
