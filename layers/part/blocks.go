package part

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/simd/vnorm"
)

// blockLanes holds one value for each of the 16 channels of a block: of a parameter, or of a pixel.
type blockLanes = [shape.BlockLanes]float32

// NoLanes and unitLanes are the parameters of channels that are not normalised, scaled or shifted.
var NoLanes, unitLanes = &blockLanes{}, &blockLanes{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}

// LanesOf returns the 16 parameters of block m.
func LanesOf(channels []float32, m int) *blockLanes {
	return (*blockLanes)(channels[m*shape.BlockLanes:])
}

// Unchanged returns the vnorm.Block that computes y = x.
func Unchanged() vnorm.Block {
	return vnorm.Block{Mean: NoLanes, Scale: unitLanes, Gamma: unitLanes, Beta: NoLanes, Slope: 1}
}

// Lanes returns how many channels one middle index of a stream covers: 16 if channels are in blocks, else 1.
func Lanes(blocked bool) int {
	if blocked {
		return shape.BlockLanes
	}
	return 1
}

// BlockedStream returns s for an outer x channels x inner array, with the channels in blocks if blocked.
func BlockedStream(s stream.Pass, dims [3]int, blocked bool) stream.Pass {
	s.Dims = dims
	if n := Lanes(blocked); n > 1 {
		s.Dims, s.Lanes = [3]int{dims[0], dims[1] / n, dims[2] * n}, n
	}
	return s
}

// BlockSums returns block m's entries of a tile's two sums.
func BlockSums(t *stream.Tile, m int) (first, second []float64) {
	return t.Sum[m*shape.BlockLanes:], t.Sum[(t.M+m)*shape.BlockLanes:]
}

// addBlocks is addRows for channels in blocks. The kernel also sums squares at no cost; nothing reads them.
func addBlocks(t *stream.Tile) {
	t.EachRow(func(at, n, m int) {
		var squares [shape.BlockLanes]float64
		vnorm.BlockMoments(t.Sum[m*shape.BlockLanes:], squares[:], t.In[0][at:at+n], NoLanes[:])
	})
}
