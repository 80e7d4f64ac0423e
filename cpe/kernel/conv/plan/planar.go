package plan

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// planarResults computes an input gradient whose algorithm reads DY by planes while DY is stored in blocks of channels. It first converts DY
// to planes. Scratch does not count this copy: such convolutions mostly read a net's data, whose gradient is never computed.
type planarResults struct {
	*conv.Task // the kernel that reads planes
	blocks     []float32
}

// planarProblem returns the problem with results by planes. ok tells whether that problem may have to be computed in place of p.
func planarProblem(p *conv.Problem) (*conv.Problem, bool) {
	if p.Spec.HasDMA() || p.Direction != shape.InputGradient || p.Images != shape.Planes || p.Results != shape.Blocks || p.Shape.Out%shape.BlockLanes != 0 || !conv.FewChannels(&p.Shape) {
		return nil, false
	}
	planes := *p
	planes.Results = shape.Planes
	return &planes, true
}

// values is the number of values of the results. Their planes are in scratch memory from index from on.
func (p *planarResults) values() int { return p.Shape.N * p.Shape.Out * tiling.Size(p.Shape.OutSize()) }
func (p *planarResults) from() int   { return tiling.Blocks(p.Reserved.Common, conv.Panel) * conv.Panel }

// planes returns the memory of the copy.
func (p *planarResults) planes() []float32 { return p.Machine.Common(p.from() + p.values())[p.from():] }

// Run converts DY, then computes the gradient.
func (p *planarResults) Run(a conv.Arrays) error {
	p.Machine.TakeScratch(cpe.Scratch{Common: p.from() + p.values(), Group: p.Reserved.Group})
	p.blocks, a.DY = a.DY, p.planes()
	if err := p.Machine.Run(p, 0); err != nil {
		return err
	}
	return p.RunStages(a)
}

// Name names the stage.
func (p *planarResults) Name() string { return "convolution, turning results" }

// RunGroup converts a core group's share of the blocks.
func (p *planarResults) RunGroup(g *cpe.CoreGroup) error {
	s := &p.Shape
	area, planes := tiling.Size(s.OutSize()), p.planes()
	lo, hi := g.Share(s.N * s.Out / shape.BlockLanes)
	at := lo * shape.BlockLanes * area
	shape.FromBlocks(planes[at:], p.blocks[at:], (hi-lo)*shape.BlockLanes, area)
	return nil
}
