package conv

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/pool"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/simd/vpool"
)

// pooledGrads computes, for offsetWeights, the gradient of the results in blocks of channels from the gradient of the pooled outputs, one
// band at a time.
type pooledGrads struct {
	pool *pool.Kernel
	y    *pointImages // the results before pooling
	rows int          // result rows in a band
}

// size is the number of values of a core group's scratch memory: a band of results and, if outputs must be transposed to blocks, the outputs
// whose windows meet the band.
func (p *pooledGrads) size() int { return p.band() + p.source() }

func (p *pooledGrads) band() int { return p.y.blocks() * p.rows * p.y.Cols() * shape.BlockLanes }

func (p *pooledGrads) source() int {
	if s := p.pool.Shape(); s.TurnsOut() {
		return min(s.OH, (p.rows+s.KH)/s.SH+1) * s.OW * shape.BlockLanes
	}
	return 0
}

// of returns the gradient of one band of results; dy is the gradient of the outputs.
func (p *pooledGrads) of(dy []float32, at pointSpan, scratch []float32) pointBlocks {
	band, room := scratch[:p.band()], scratch[p.band():]
	width := p.y.Cols()
	rows := p.pool.BandOfInputs(vpool.Rows{From: at.first / width, To: (at.first + at.n) / width})
	to := pointBlocks{data: band, jump: at.n * shape.BlockLanes}
	for block := range p.y.blocks() {
		p.pool.MaxBandGrad(to.data[block*to.jump:], at.image*p.y.blocks()+block, &rows, dy, room)
	}
	return to
}
