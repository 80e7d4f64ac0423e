package norm

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/simd/vnorm"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
)

// arrange sets the layout of x and y, channels in blocks or planes, and the steps behind apply. MVN uses planes only, since its middle axis also
// counts images.
func (n *normaliser) arrange(b *layers.Base, a layers.Arranged) error {
	if !n.steps.Arrange(a.Steps) && n.blocked == a.In.Blocks {
		return nil
	}
	n.blocked = a.In.Blocks
	return n.prepare(b)
}

// The next functions are momentsRow, normaliseRow, sumRow, gradientRow and scaleRow for channels in blocks.

func momentsBlock(t *stream.Tile, at, n, m int) {
	sums, squares := part.BlockSums(t, m)
	vnorm.BlockMoments(sums, squares, t.In[0][at:at+n], t.In[1][m*shape.BlockLanes:])
}

func normaliseBlock(t *stream.Tile, at, n, m int) {
	p := part.Unchanged()
	p.Mean, p.Scale = part.LanesOf(t.In[1], m), part.LanesOf(t.In[2], m)
	y := t.Out[0][at : at+n]
	vnorm.BlockNormalise(y, t.In[0][at:at+n], &p)
	for _, other := range t.Out[1:] {
		copy(other[at:], y)
	}
}

func sumBlock(t *stream.Tile, at, n, m int) {
	p := part.Unchanged()
	products, sums := part.BlockSums(t, m)
	vnorm.BlockNormaliseSums(products, sums, t.In[0][at:at+n], t.In[1][at:at+n], &p)
}

func gradientBlock(t *stream.Tile, at, n, m int) {
	p := part.Unchanged()
	p.A, p.B, p.C = part.LanesOf(t.In[4], m), part.LanesOf(t.In[2], m), part.LanesOf(t.In[3], m)
	vnorm.BlockNormaliseGrad(t.Out[0][at:at+n], t.In[0][at:at+n], t.In[1][at:at+n], &p)
}

func scaleBlock(t *stream.Tile, at, n, m int) {
	p := part.Unchanged()
	p.Gamma = part.LanesOf(t.In[1], m)
	vnorm.BlockNormalise(t.Out[0][at:at+n], t.In[0][at:at+n], &p)
}
