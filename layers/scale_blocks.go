package layers

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/simd/vnorm"
)

// Blocking implements Blocker for factors, or summands, that are weights, one a channel.
func (l *affine) Blocking() Blocking {
	if l.fromBottom || !l.byChannel {
		return Blocking{}
	}
	return l.inBlocks(l.axes, l.dims)
}

// SetBlocked implements Blocker.
func (l *affine) SetBlocked(bottoms, tops bool) error {
	if err := l.Blocking().check(bottoms, tops); err != nil || l.blocked == bottoms {
		return err
	}
	l.blocked = bottoms
	return l.prepare()
}

// forwardBlock is forwardRow of the channels of a block.
func (l *affine) forwardBlock(t *stream.Tile, at, n, m int) {
	x := t.In[0][at : at+n]
	if len(t.Out) > 1 {
		copy(t.Out[1][at:], x)
	}
	p := unchanged()
	if l.scaled {
		p.Gamma = lanesOf(t.In[1], m)
	}
	if l.biased {
		p.Beta = lanesOf(t.In[len(t.In)-1], m)
	}
	vnorm.BlockNormalise(t.Out[0][at:at+n], x, &p)
}
