package kernel

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/internal/simd"
)

// pooledGrads makes the gradient of results, for offsetWeights, from that of what was pooled of them, a band at a time.
type pooledGrads struct {
	pool *Pool
	y    *pointImages // results
	rows int          // of a band
}

// newPooledWeights is newOffsetWeights for results that are pooled.
func newPooledWeights(c *Conv, p *Pool) *offsetWeights {
	v := newOffsetWeights(c)
	v.pooled = &pooledGrads{p, &v.y, v.rows}
	c.takes(WeightGradient, cpe.Scratch{Common: v.sums(), Group: v.memory()})
	return v
}

// size is the number of values of a core group's scratch: a band of results, in blocks, and what that is made of, the outputs that meet it,
// turned to blocks, or the planes of an image.
func (p *pooledGrads) size() int { return p.band() + p.source() }

func (p *pooledGrads) band() int {
	if p.pool.blocks == nil {
		return p.y.scratch(p.y.blocks(), p.rows*p.y.outW)
	}
	return p.y.blocks() * p.rows * p.y.outW * BlockLanes
}

func (p *pooledGrads) source() int {
	switch s := &p.pool.shape; {
	case p.pool.blocks == nil:
		return s.C * s.H * s.W
	case s.turnsOut():
		return min(s.OH, (p.rows+s.KH)/s.SH+1) * s.OW * BlockLanes
	}
	return 0
}

// of returns a band's gradient, dy being that of the outputs; first says that the band before, of the same core group, was not of the image.
func (p *pooledGrads) of(g *cpe.CoreGroup, dy []float32, at pointSpan, first bool, scratch []float32) pointBlocks {
	band, source := scratch[:p.band()], scratch[p.band():]
	if p.pool.blocks != nil {
		return p.ofBlocks(dy, at, band, source)
	}
	if first {
		p.spread(g, dy, at.image, source)
	}
	at.image = 0
	p.y.gather(source, at, 0, p.y.blocks(), band)
	return p.y.at(source, at, 0, p.y.blocks(), band)
}

// spread makes the gradient of an image's planes.
func (p *pooledGrads) spread(g *cpe.CoreGroup, dy []float32, image int, planes []float32) {
	s := &p.pool.shape
	in, out := s.H*s.W, s.OH*s.OW
	for c := range s.C {
		n := image*s.C + c
		p.pool.planes.MaxGrad(planes[c*in:(c+1)*in], dy[n*out:(n+1)*out], p.pool.taken(g, n))
	}
}

// ofBlocks makes that of a band of blocks from the outputs that meet it.
func (p *pooledGrads) ofBlocks(dy []float32, at pointSpan, band, room []float32) pointBlocks {
	width, pool := p.y.outW, p.pool.blocks.kernel
	rows := simd.Rows{From: at.first / width, To: (at.first + at.n) / width}
	outputs := pool.Outputs(rows)
	to := pointBlocks{data: band, jump: at.n * BlockLanes}
	for block := range p.y.blocks() {
		y, taken := p.pool.outputsOf(dy, at.image*p.y.blocks()+block, room)
		pool.MaxGrad(to.data[block*to.jump:], y.load(outputs), taken[y.at(outputs):], rows)
	}
	return to
}
