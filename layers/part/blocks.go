package part

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/simd/vnorm"
)

// blockLanes are the values of 16 channels: of a parameter of theirs, or of a pixel.
type blockLanes = [shape.BlockLanes]float32

// Constants of channels that are not normalised, scaled or shifted.
var NoLanes, unitLanes = &blockLanes{}, &blockLanes{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}

// LanesOf returns the parameters of block m.
func LanesOf(channels []float32, m int) *blockLanes {
	return (*blockLanes)(channels[m*shape.BlockLanes:])
}

// Unchanged is the BlockNormal of y = x.
func Unchanged() vnorm.Block {
	return vnorm.Block{Mean: NoLanes, Scale: unitLanes, Gamma: unitLanes, Beta: NoLanes, Slope: 1}
}

// Lanes is the number of channels that a mid of a stream over images stands for.
func Lanes(blocked bool) int {
	if blocked {
		return shape.BlockLanes
	}
	return 1
}

// BlockedStream is a stream over an outer x channels x inner array that may lie in blocks of channels.
func BlockedStream(s stream.Pass, dims [3]int, blocked bool) stream.Pass {
	s.Dims = dims
	if n := Lanes(blocked); n > 1 {
		s.Dims, s.Lanes = [3]int{dims[0], dims[1] / n, dims[2] * n}, n
	}
	return s
}

// BlockSums are two sums of the lanes of a tile's block m.
func BlockSums(t *stream.Tile, m int) (first, second []float64) {
	return t.Sum[m*shape.BlockLanes:], t.Sum[(t.M+m)*shape.BlockLanes:]
}

// addBlocks is addRows of blocks of channels; squares come for nothing, and are nobody's.
func addBlocks(t *stream.Tile) {
	EachRow(t, func(at, n, m int) {
		var squares [shape.BlockLanes]float64
		vnorm.BlockMoments(t.Sum[m*shape.BlockLanes:], squares[:], t.In[0][at:at+n], NoLanes[:])
	})
}
