package layers

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/simd/vnorm"
)

// blockLanes are the values of 16 channels: of a parameter of theirs, or of a pixel.
type blockLanes = [shape.BlockLanes]float32

// Constants of channels that are not normalised, scaled or shifted.
var noLanes, unitLanes = &blockLanes{}, &blockLanes{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}

// lanesOf returns the parameters of block m.
func lanesOf(channels []float32, m int) *blockLanes {
	return (*blockLanes)(channels[m*shape.BlockLanes:])
}

// unchanged is the BlockNormal of y = x.
func unchanged() vnorm.Block {
	return vnorm.Block{Mean: noLanes, Scale: unitLanes, Gamma: unitLanes, Beta: noLanes, Slope: 1}
}

// lanes is the number of channels that a mid of a stream over images stands for.
func lanes(blocked bool) int {
	if blocked {
		return shape.BlockLanes
	}
	return 1
}

// blockedStream is a stream over an outer x channels x inner array that may lie in blocks of channels.
func blockedStream(s stream.Pass, dims [3]int, blocked bool) stream.Pass {
	s.Dims = dims
	if n := lanes(blocked); n > 1 {
		s.Dims, s.Lanes = [3]int{dims[0], dims[1] / n, dims[2] * n}, n
	}
	return s
}

// blockSums are two sums of the lanes of a tile's block m.
func blockSums(t *stream.Tile, m int) (first, second []float64) {
	return t.Sum[m*shape.BlockLanes:], t.Sum[(t.M+m)*shape.BlockLanes:]
}

// setBlocked says how x and y lie; MVN, whose mids are not channels alone, has them plain.
func (n *normaliser) setBlocked(b *Base, blocked bool) error {
	if n.blocked == blocked {
		return nil
	}
	n.blocked = blocked
	return n.prepare(b)
}

// The rows of blocks: as momentsRow, normaliseRow, sumRow, gradientRow and scaleRow of the channels.

func momentsBlock(t *stream.Tile, at, n, m int) {
	sums, squares := blockSums(t, m)
	vnorm.BlockMoments(sums, squares, t.In[0][at:at+n], t.In[1][m*shape.BlockLanes:])
}

// addBlocks is addRows of blocks of channels; squares come for nothing, and are nobody's.
func addBlocks(t *stream.Tile) {
	eachRow(t, func(at, n, m int) {
		var squares [shape.BlockLanes]float64
		vnorm.BlockMoments(t.Sum[m*shape.BlockLanes:], squares[:], t.In[0][at:at+n], noLanes[:])
	})
}

func normaliseBlock(t *stream.Tile, at, n, m int) {
	p := unchanged()
	p.Mean, p.Scale = lanesOf(t.In[1], m), lanesOf(t.In[2], m)
	y := t.Out[0][at : at+n]
	vnorm.BlockNormalise(y, t.In[0][at:at+n], &p)
	for _, other := range t.Out[1:] {
		copy(other[at:], y)
	}
}

func sumBlock(t *stream.Tile, at, n, m int) {
	p := unchanged()
	products, sums := blockSums(t, m)
	vnorm.BlockNormaliseSums(products, sums, t.In[0][at:at+n], t.In[1][at:at+n], &p)
}

func gradientBlock(t *stream.Tile, at, n, m int) {
	p := unchanged()
	p.A, p.B, p.C = lanesOf(t.In[4], m), lanesOf(t.In[2], m), lanesOf(t.In[3], m)
	vnorm.BlockNormaliseGrad(t.Out[0][at:at+n], t.In[0][at:at+n], t.In[1][at:at+n], &p)
}

func scaleBlock(t *stream.Tile, at, n, m int) {
	p := unchanged()
	p.Gamma = lanesOf(t.In[1], m)
	vnorm.BlockNormalise(t.Out[0][at:at+n], t.In[0][at:at+n], &p)
}
