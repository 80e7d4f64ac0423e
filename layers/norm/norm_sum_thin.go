package norm

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/internal/base/simd/vnorm"
	"github.com/swcaffe/swcaffe/layers/part"
)

// The functions in this file compute a rectified sum only at the pixels that its strided readers need. y is undefined elsewhere. Backward
// receives the gradient at these pixels only, and writes zeros elsewhere to the gradient of s. Statistics and gradient of x cover all
// pixels.

// thinRun is the number of pixels processed at a time, few enough to stay in L1.
const thinRun = 56

// thinPixels is a buffer for thinRun pixels.
type thinPixels [thinRun * shape.BlockLanes]float32

// makesThin reports whether tops may be thin. This needs tiles of whole planes.
func (l *normSum) makesThin() bool {
	return l.rectifies && l.blocked() && !l.norm.global && l.dims[1] >= manyBlocks*shape.BlockLanes
}

// findStrided lists the offsets in a plane of the pixels at multiples of the strides.
func (l *normSum) findStrided() {
	if l.strided = l.strided[:0]; !l.isThin() {
		return
	}
	for i := range l.thin.Pixels() {
		l.strided = append(l.strided, l.thin.Place(i)*shape.BlockLanes)
	}
}

// isThin reports whether tops are thin.
func (l *normSum) isThin() bool { return l.thin.StrideH*l.thin.StrideW > 1 }

// eachThin calls f for runs of these pixels, with the range of pixels and the range of their packed values.
func (l *normSum) eachThin(f func(first, last, from, to int)) {
	for first := 0; first < len(l.strided); first += thinRun {
		last := min(first+thinRun, len(l.strided))
		f(first, last, first*shape.BlockLanes, last*shape.BlockLanes)
	}
}

// forwardThin is forwardBlock at the strided pixels.
func (l *normSum) forwardThin(t *stream.Tile, at, n int, p *vnorm.Block) {
	var near, others thinPixels
	y, x, other, signs := t.Out[0][at:at+n], t.In[0][at:at+n], t.In[l.gradient()][at:at+n], l.signsAt(t, at)
	l.eachThin(func(first, last, from, to int) {
		vec.GatherRows(near[:], shape.BlockLanes, x, l.strided[first:last], shape.BlockLanes)
		vec.GatherRows(others[:], shape.BlockLanes, other, l.strided[first:last], shape.BlockLanes)
		vnorm.BlockNormaliseAdd(y[from:to], signs[first:last], near[:to-from], others[:], p)
	})
}

// sumThin is sumBlock at the strided pixels. It leaves g packed.
func (l *normSum) sumThin(t *stream.Tile, at, n, m int, p *vnorm.Block) {
	var near thinPixels
	products, sums := part.BlockSums(t, m)
	g, dy, x, signs := t.Out[1][at:at+n], t.In[l.gradient()][at:at+n], t.In[0][at:at+n], l.signsAt(t, at)
	l.eachThin(func(first, last, from, to int) {
		vec.GatherRows(near[:], shape.BlockLanes, x, l.strided[first:last], shape.BlockLanes)
		vnorm.BlockMaskSums(products, sums, g[from:to], dy[from:to], signs[first:last], near[:to-from], p)
	})
}

// backwardThin is backwardBlock for a packed g, which it spreads in place. It goes from the last pixels to the first, so that it does not
// overwrite packed values before it reads them.
func (l *normSum) backwardThin(t *stream.Tile, at, n int, p *vnorm.Block) {
	var near thinPixels
	dx, g, x := t.Out[0][at:at+n], t.Out[1][at:at+n], t.In[0][at:at+n]
	for to, last := n, len(l.strided); last > 0; {
		first := (last - 1) / thinRun * thinRun
		from := l.strided[first]
		copy(near[:], g[first*shape.BlockLanes:last*shape.BlockLanes])
		clear(g[from:to])
		for i, at := range l.strided[first:last] {
			*part.LanesOf(g[at:], 0) = *part.LanesOf(near[:], i)
		}
		vnorm.BlockNormaliseGrad(dx[from:to], g[from:to], x[from:to], p)
		last, to = first, from
	}
}
