package vision

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/norm"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
)

// near returns the parameters of the kernels for channels in blocks.
func (l *lrnAcross) near() norm.LRN {
	return norm.LRN{Size: l.size, Alpha: l.alpha, Beta: l.beta, K: l.k}
}

// forwardBlocks is forwardTile for blocks of channels.
func (l *lrnAcross) forwardBlocks(t *stream.Tile) {
	s, zeros := t.Scratch[0][:t.I], t.Scratch[1][:t.I]
	near := l.near()
	clear(zeros)
	for o := range t.O {
		x := norm.BlockRows{Data: t.In[0][o*t.OStride:], Zeros: zeros, Stride: t.MStride, Count: t.M, Slot: t.M}
		for m := range t.M {
			near.Forward(s, t.Out[0][o*t.OStride+m*t.MStride:][:t.I], x.Around(m))
		}
	}
}

// backwardBlocks is backwardTile for channels in blocks. A block's dx gets its second term once dy*y/s of the next block is known.
func (l *lrnAcross) backwardBlocks(t *stream.Tile) {
	slots := min(3, t.M)
	s, zeros := t.Scratch[1][:t.I], t.Scratch[2][:t.I]
	near := l.near()
	clear(zeros)
	for o := range t.O {
		at := func(data []float32) norm.BlockRows {
			return norm.BlockRows{Data: data[o*t.OStride:], Zeros: zeros, Stride: t.MStride, Count: t.M, Slot: t.M}
		}
		dy, x, dx := at(t.In[0]), at(t.In[1]), at(t.Out[0])
		ratio := norm.BlockRows{Data: t.Scratch[0], Zeros: zeros, Stride: t.I, Count: t.M, Slot: slots}
		for m := range t.M + 1 {
			if m < t.M {
				near.Own(s, dx.Row(m), ratio.Row(m), dy.Row(m), x.Around(m))
			}
			if m > 0 {
				near.Others(dx.Row(m-1), x.Row(m-1), ratio.Around(m-1), l.relu)
			}
		}
	}
}
