package kernel

import "github.com/swcaffe/swcaffe/cpe"

// planarResults is the stage before an input gradient that reads its results by planes, where they lie in blocks of channels: it turns
// them. Images of few channels have such; they are mostly data, whose gradient nobody asks for, and so the copy is not among what Scratch
// says.
type planarResults struct {
	conv   *Conv
	blocks []float32
}

// planar reports whether a direction reads results by planes even if they lie in blocks.
func (c *Conv) planar(d Direction) bool {
	return c.machine.Native() && d == InputGradient && c.shape.byOffsets() && !c.plan.Strategy[d].isWinograd()
}

// values is the number of values of the results, from how many values of scratch on the planes lie behind.
func (p *planarResults) values() int {
	return p.conv.shape.N * p.conv.shape.Out * size(p.conv.shape.OutSize())
}

func (p *planarResults) from() int {
	return blocks(p.conv.scratch[InputGradient].Common, panel) * panel
}

// planes is the copy.
func (p *planarResults) planes() []float32 {
	return p.conv.machine.Common(p.from() + p.values())[p.from():]
}

// Name names the stage.
func (p *planarResults) Name() string { return "convolution, turning results" }

// RunGroup turns a core group's share of the blocks.
func (p *planarResults) RunGroup(g *cpe.CoreGroup) error {
	s := &p.conv.shape
	area, planes := size(s.OutSize()), p.planes()
	lo, hi := g.Share(s.N * s.Out / BlockLanes)
	at := lo * BlockLanes * area
	FromBlocks(planes[at:], p.blocks[at:], (hi-lo)*BlockLanes, area)
	return nil
}
