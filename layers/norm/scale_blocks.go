package norm

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/simd/vnorm"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
)

// Arrange implements Planned.
func (l *affine) Arrange(a layers.Arranged) error {
	if !l.steps.Arrange(a.Steps) && l.blocked == a.In.Blocks {
		return nil
	}
	l.blocked = a.In.Blocks
	return l.prepare()
}

// forwardBlock is forwardRow for channels in blocks.
func (l *affine) forwardBlock(t *stream.Tile, at, n, m int) {
	x := t.In[0][at : at+n]
	if len(t.Out) > 1 {
		copy(t.Out[1][at:], x)
	}
	p := part.Unchanged()
	if l.scaled {
		p.Gamma = part.LanesOf(t.In[1], m)
	}
	if l.biased {
		p.Beta = part.LanesOf(t.In[len(t.In)-1], m)
	}
	vnorm.BlockNormalise(t.Out[0][at:at+n], x, &p)
}
