package norm

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
	"github.com/swcaffe/swcaffe/internal/simd/vnorm"
	"github.com/swcaffe/swcaffe/layers/part"
)

// The passes of a rectified sum of which only what strides meet is read: y is not made elsewhere, and what comes back is its gradient there
// alone, which becomes that of s with zeros between. The statistics are those of all of x, as is its gradient.

// thinRun is how many pixels are worked on at a time: they stay in L1.
const thinRun = 56

// thinPixels has room for them.
type thinPixels [thinRun * shape.BlockLanes]float32

// makesThin reports whether tops may be thin: tiles must be whole planes.
func (l *normSum) makesThin() bool {
	return l.rectifies && l.blocked() && !l.norm.global && l.dims[1] >= manyBlocks*shape.BlockLanes
}

// findMet finds where in a plane the pixels stand that strides meet.
func (l *normSum) findMet() {
	if l.met = l.met[:0]; !l.isThin() {
		return
	}
	for i := range l.thin.Pixels() {
		l.met = append(l.met, l.thin.Place(i)*shape.BlockLanes)
	}
}

// isThin reports whether tops are thin.
func (l *normSum) isThin() bool { return l.thin.StrideH*l.thin.StrideW > 1 }

// eachThin calls f for runs of the pixels of a plane that strides meet, and for where their values and signs begin and end.
func (l *normSum) eachThin(f func(first, last, from, to int)) {
	for first := 0; first < len(l.met); first += thinRun {
		last := min(first+thinRun, len(l.met))
		f(first, last, first*shape.BlockLanes, last*shape.BlockLanes)
	}
}

// forwardThin is forwardBlock.
func (l *normSum) forwardThin(t *stream.Tile, at, n int, p *vnorm.Block) {
	var near, others thinPixels
	y, x, other, signs := t.Out[0][at:at+n], t.In[0][at:at+n], t.In[l.gradient()][at:at+n], l.signsAt(t, at)
	l.eachThin(func(first, last, from, to int) {
		vec.GatherRows(near[:], shape.BlockLanes, x, l.met[first:last], shape.BlockLanes)
		vec.GatherRows(others[:], shape.BlockLanes, other, l.met[first:last], shape.BlockLanes)
		vnorm.BlockNormaliseAdd(y[from:to], signs[first:last], near[:to-from], others[:], p)
	})
}

// sumThin is sumBlock, which leaves g thin.
func (l *normSum) sumThin(t *stream.Tile, at, n, m int, p *vnorm.Block) {
	var near thinPixels
	products, sums := part.BlockSums(t, m)
	g, dy, x, signs := t.Out[1][at:at+n], t.In[l.gradient()][at:at+n], t.In[0][at:at+n], l.signsAt(t, at)
	l.eachThin(func(first, last, from, to int) {
		vec.GatherRows(near[:], shape.BlockLanes, x, l.met[first:last], shape.BlockLanes)
		vnorm.BlockMaskSums(products, sums, g[from:to], dy[from:to], signs[first:last], near[:to-from], p)
	})
}

// backwardThin is backwardBlock, which spreads g on the way: from the last pixels to the first, lest it overwrite those to come.
func (l *normSum) backwardThin(t *stream.Tile, at, n int, p *vnorm.Block) {
	var near thinPixels
	dx, g, x := t.Out[0][at:at+n], t.Out[1][at:at+n], t.In[0][at:at+n]
	for to, last := n, len(l.met); last > 0; {
		first := (last - 1) / thinRun * thinRun
		from := l.met[first]
		copy(near[:], g[first*shape.BlockLanes:last*shape.BlockLanes])
		clear(g[from:to])
		for i, at := range l.met[first:last] {
			*part.LanesOf(g[at:], 0) = *part.LanesOf(near[:], i)
		}
		vnorm.BlockNormaliseGrad(dx[from:to], g[from:to], x[from:to], p)
		last, to = first, from
	}
}
