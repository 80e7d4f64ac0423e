package offsets

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/tensor"
	"github.com/swcaffe/swcaffe/cpe/kernel/pool"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/base/simd/vpool"
)

// pooledGrads computes, for weightsKernel, the gradient of the results in blocks of channels from the gradient of the pooled outputs, one
// band at a time.
type pooledGrads struct {
	pool *pool.Kernel
	y    *tensor.Images // the results before pooling
	rows int            // result rows in a band
}

// size is the number of values of a core group's scratch memory: a band of results and, if outputs must be transposed to blocks, the outputs
// whose windows meet the band.
func (p *pooledGrads) size() int { return p.band() + p.source() }

func (p *pooledGrads) band() int { return p.y.Blocks() * p.rows * p.y.Cols() * shape.BlockLanes }

func (p *pooledGrads) source() int {
	if s := p.pool.Shape(); s.TurnsOut() {
		return min(s.OH, (p.rows+s.KH)/s.SH+1) * s.OW * shape.BlockLanes
	}
	return 0
}

// of returns the gradient of one band of results; dy is the gradient of the outputs.
func (p *pooledGrads) of(dy []float32, at tensor.Span, scratch []float32) tensor.Blocks {
	band, room := scratch[:p.band()], scratch[p.band():]
	width := p.y.Cols()
	rows := p.pool.BandOfInputs(vpool.Rows{From: at.First / width, To: (at.First + at.N) / width})
	to := tensor.Blocks{Data: band, Jump: at.N * shape.BlockLanes}
	for block := range p.y.Blocks() {
		p.pool.MaxBandGrad(to.Data[block*to.Jump:], at.Image*p.y.Blocks()+block, &rows, dy, room)
	}
	return to
}
