package conv

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// planarResults is the stage before an input gradient that reads its results by planes, where they lie in blocks of channels: it turns
// them. Images of few channels have such; they are mostly data, whose gradient nobody asks for, and so the copy is not among what Scratch
// says.
type planarResults struct {
	conv   *Conv
	blocks []float32
}

// planar reports whether a direction reads results by planes even if they lie in blocks.
func (c *Conv) planar(d shape.Direction) bool {
	return c.machine.Native() && d == shape.InputGradient && byOffsets(&c.shape) && !c.plan.Strategy[d].IsWinograd()
}

// values is the number of values of the results, from how many values of scratch on the planes lie behind.
func (p *planarResults) values() int {
	return p.conv.shape.N * p.conv.shape.Out * tiling.Size(p.conv.shape.OutSize())
}

func (p *planarResults) from() int {
	return tiling.Blocks(p.conv.scratch[shape.InputGradient].Common, panel) * panel
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
	area, planes := tiling.Size(s.OutSize()), p.planes()
	lo, hi := g.Share(s.N * s.Out / shape.BlockLanes)
	at := lo * shape.BlockLanes * area
	shape.FromBlocks(planes[at:], p.blocks[at:], (hi-lo)*shape.BlockLanes, area)
	return nil
}
