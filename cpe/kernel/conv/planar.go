package conv

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
)

// planarResults is an input gradient that reads results by planes where they lie in blocks of channels: it makes a copy by planes first.
// The images of such a convolution have few channels. They are mostly data, whose gradient nobody asks for, and so Scratch leaves the copy out.
type planarResults struct {
	*task  // that reads planes
	blocks []float32
}

// byPlanes returns the problem with results by planes, and whether its algorithm may have to compute it instead.
func (p *Problem) byPlanes() (*Problem, bool) {
	if !p.native() || p.Direction != shape.InputGradient || p.Images != Planes || p.Results != Blocks || p.Shape.Out%shape.BlockLanes != 0 || !byOffsets(&p.Shape) {
		return nil, false
	}
	planes := *p
	planes.Results = Planes
	return &planes, true
}

// values is the number of values of the results, from how many values of scratch on the planes lie behind.
func (p *planarResults) values() int { return p.Shape.N * p.Shape.Out * tiling.Size(p.Shape.OutSize()) }
func (p *planarResults) from() int   { return tiling.Blocks(p.scratch.Common, panel) * panel }

// planes is the copy.
func (p *planarResults) planes() []float32 { return p.machine.Common(p.from() + p.values())[p.from():] }

// Run copies and computes.
func (p *planarResults) Run(a Arrays) error {
	p.machine.TakeScratch(cpe.Scratch{Common: p.from() + p.values(), Group: p.scratch.Group})
	p.blocks, a.DY = a.DY, p.planes()
	if err := p.machine.Run(p, 0); err != nil {
		return err
	}
	return p.work(a)
}

// Name names the stage.
func (p *planarResults) Name() string { return "convolution, turning results" }

// RunGroup turns a core group's share of the blocks.
func (p *planarResults) RunGroup(g *cpe.CoreGroup) error {
	s := &p.Shape
	area, planes := tiling.Size(s.OutSize()), p.planes()
	lo, hi := g.Share(s.N * s.Out / shape.BlockLanes)
	at := lo * shape.BlockLanes * area
	shape.FromBlocks(planes[at:], p.blocks[at:], (hi-lo)*shape.BlockLanes, area)
	return nil
}
