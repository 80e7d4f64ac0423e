package norm

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/simd/vnorm"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
)

// Arrange implements Planned.
func (l *normChain) Arrange(a layers.Arranged) error {
	was, changed := l.blocked(), l.steps.Arrange(a.Steps)
	a.Steps = nil
	if err := l.norm.Arrange(a); err != nil || was == l.blocked() && !changed || l.dims == [3]int{} {
		return err
	}
	return l.prepare()
}

// blocked reports whether bottom and top have channels in blocks.
func (l *normChain) blocked() bool { return l.norm.normaliser.blocked }

// block returns the constants of a tile's block m.
func (l *normChain) block(t *stream.Tile, m int) vnorm.Block {
	var beta []float32
	if l.scale.biased {
		beta = t.In[4]
	}
	return l.blockConstants(t.In[1], t.In[2], t.In[3], beta, m)
}

// blockConstants returns the constants of block m. beta may be nil.
func (l *normChain) blockConstants(mean, scale, gamma, beta []float32, m int) vnorm.Block {
	p := vnorm.Block{Mean: part.LanesOf(mean, m), Scale: part.LanesOf(scale, m), Gamma: part.LanesOf(gamma, m), Beta: part.NoLanes, Slope: 1}
	if beta != nil {
		p.Beta = part.LanesOf(beta, m)
	}
	if l.rectified {
		p.Slope = l.slope
	}
	return p
}

// momentsBlock sums a block's values and their squared distances from the pivots. The pivots come from the normaliser, not from the tile's
// inputs.
func (l *normChain) momentsBlock(t *stream.Tile, at, n, m int) {
	sums, squares := part.BlockSums(t, m)
	vnorm.BlockMoments(sums, squares, t.In[0][at:at+n], l.norm.normaliser.pivot[(t.M0+m)*shape.BlockLanes:])
}

func (l *normChain) forwardBlock(t *stream.Tile, at, n, m int) {
	p := l.block(t, m)
	y, x := t.Out[0][at:at+n], t.In[0][at:at+n]
	if l.sum == nil {
		vnorm.BlockNormalise(y, x, &p)
		return
	}
	if l.sum.rectifies {
		p.Slope = l.sum.ratio
	}
	if l.sum.isThin() {
		l.sum.forwardThin(t, at, n, &p)
		return
	}
	vnorm.BlockNormaliseAdd(y, l.sum.signsAt(t, at), x, t.In[l.gradient()][at:at+n], &p)
}

// sumBlock adds g*xn to sum 0 and g to sum 1. For a rectified sum it also writes g.
func (l *normChain) sumBlock(t *stream.Tile, at, n, m int) {
	p := l.block(t, m)
	products, sums := part.BlockSums(t, m)
	dy, x := t.In[l.gradient()][at:at+n], t.In[0][at:at+n]
	if !l.masks() {
		vnorm.BlockNormaliseSums(products, sums, dy, x, &p)
		return
	}
	p.Slope = l.sum.ratio
	if l.sum.isThin() {
		l.sum.sumThin(t, at, n, m, &p)
		return
	}
	vnorm.BlockMaskSums(products, sums, t.Out[len(t.Out)-1][at:at+n], dy, l.sum.signsAt(t, at), x, &p)
}

func (l *normChain) backwardBlock(t *stream.Tile, at, n, m int) {
	p, factors := l.block(t, m), t.In[l.gradient()+1:]
	p.A, p.B, p.C = part.LanesOf(factors[0], m), part.LanesOf(factors[1], m), part.LanesOf(factors[2], m)
	if l.sum != nil && l.sum.isThin() {
		l.sum.backwardThin(t, at, n, &p)
		return
	}
	vnorm.BlockNormaliseGrad(t.Out[0][at:at+n], l.masked(t, at, n), t.In[0][at:at+n], &p)
}
