package layers

import (
	"github.com/swcaffe/swcaffe/cpe/kernel"
	"github.com/swcaffe/swcaffe/internal/simd"
)

// Blocking implements Blocker: a window of channels must reach no further than the blocks around one.
func (l *lrnAcross) Blocking() Blocking {
	if !simd.HasNear(l.size) {
		return Blocking{}
	}
	return l.inBlocks(4, l.dims)
}

// SetBlocked implements Blocker.
func (l *lrnAcross) SetBlocked(bottoms, tops bool) error {
	if err := l.Blocking().check(bottoms, tops); err != nil || l.blocked == bottoms {
		return err
	}
	l.blocked = bottoms
	return l.prepare()
}

// blockRows are the rows of one outer of a tile, a block of channels each, and a row of zeros beyond the first and the last.
type blockRows struct {
	data, zeros []float32
	stride      int
	count, slot int // of blocks, and of the rows that are there: block m is row m%slot
}

// around returns block m and its neighbours.
func (r *blockRows) around(m int) simd.NearChannels {
	return simd.NearChannels{Below: r.row(m - 1), X: r.row(m), Above: r.row(m + 1)}
}

func (r *blockRows) row(m int) []float32 {
	if m < 0 || m >= r.count {
		return r.zeros
	}
	return r.data[m%r.slot*r.stride:][:len(r.zeros)]
}

// forwardBlocks is forwardTile for blocks of channels.
func (l *lrnAcross) forwardBlocks(t *kernel.Tile) {
	s, zeros := t.Scratch[0][:t.I], t.Scratch[1][:t.I]
	clear(zeros)
	for o := range t.O {
		x := blockRows{t.In[0][o*t.OStride:], zeros, t.MStride, t.M, t.M}
		for m := range t.M {
			simd.NearSquares(s, x.around(m), l.size, l.alpha/float32(l.size), l.k)
			simd.MulPow(t.Out[0][o*t.OStride+m*t.MStride:][:t.I], x.row(m), s, -l.beta)
		}
	}
}

// backwardBlocks is backwardTile for blocks of channels: dx of a block gets its second term when dy*y/s of the next is there.
func (l *lrnAcross) backwardBlocks(t *kernel.Tile) {
	slots := min(3, t.M)
	s, y, zeros := t.Scratch[1][:t.I], t.Scratch[2][:t.I], t.Scratch[3][:t.I]
	clear(zeros)
	for o := range t.O {
		at := func(data []float32) blockRows { return blockRows{data[o*t.OStride:], zeros, t.MStride, t.M, t.M} }
		dy, x, dx := at(t.In[0]), at(t.In[1]), at(t.Out[0])
		ratio := blockRows{t.Scratch[0], zeros, t.I, t.M, slots}
		for m := range t.M + 1 {
			if m < t.M {
				simd.NearSquares(s, x.around(m), l.size, l.alpha/float32(l.size), l.k)
				simd.MulPow(y, x.row(m), s, -l.beta)
				simd.PowRatio(dx.row(m), ratio.row(m), dy.row(m), y, s, -l.beta)
			}
			if m > 0 {
				simd.MulAddNear(dx.row(m-1), x.row(m-1), ratio.around(m-1), l.size, -2*l.alpha*l.beta/float32(l.size))
				l.rectify(dx.row(m-1), x.row(m-1))
			}
		}
	}
}
