//go:build !amd64

package simd

// supported lists the levels of this machine, best first.
func supported() []*level { return []*level{&goLevel} }

// run applies an elementwise kernel; there is only plain Go here.
func (l *level) run(op, []float32, []float32, []float32, float32, float32) bool { return false }

// fold applies a reduction to no elements.
func (l *level) fold(fold, []float32, []float32) (float64, int) { return 0, 0 }

// maxLanes is never called without vectors; nor are the functions below.
func (l *level) maxLanes(_, _ *float32, _ int) {}

// elementwise applies an elementwise kernel to whole vectors.
func (l *level) elementwise(op, *float32, *float32, *float32, int, float32, float32) {}

// tile is the micro kernel.
func (l *level) tile(int, int, *float32, *float32, *float32, int, bool, int, int) {}

// panelLines packs a panel of A.
func (l *level) panelLines(_, _ *float32, _, _, _ int) {}

// panelA packs a full panel of A.
func (l *level) panelA(_, _ *float32, _, _ int) {}

// panelB packs whole panels of B.
func (l *level) panelB(_, _ *float32, _, _, _ int) {}

// copyRows copies rows.
func (l *level) copyRows(_, _ *float32, _, _, _, _ int, _ *int32) {}

// gatherRows copies rows from anywhere.
func (l *level) gatherRows(_, _ *float32, _ int, _ *int, _, _ int, _ *int32) {}

// scattered is the micro kernel whose B is not packed.
func (l *level) scattered(int, *float32, *float32, *int, *float32, int, *int, int, *int32, bool) {}

// transpose turns four rows.
func (l *level) transpose(_, _ *float32, _, _, _ int) {}

// maxPool takes maxima of windows.
func (l *level) maxPool(*float32, *int32, int, int, *float32, int, int, int, int, int, *int32) {}

// avePool takes means of windows.
func (l *level) avePool(*float32, float32, *float32, int, int, int, int, int, *int32) {}

// byRows and byColumns are the micro kernels whose operands are not packed.
func (l *level) byRows(int, int, *float32, int, *float32, int, *float32, int, bool, int, int, int) {
}
func (l *level) byColumns(int, int, *float32, int, *float32, int, *float32, int, bool, int, int, int) {
}

// winograd maps squares.
func (l *level) winograd(int, WinogradMap, *float32, *float32, *float32, *float32, *int, int) {}

// turn transposes a block.
func (l *level) turn(_, _ *float32, _, _, _, _ int) {}

// sumSquares adds up rows' squares.
func (l *level) sumSquares(_, _ *float32, _, _, _ int, _, _ float32, _ *int32) {}

// mulAddRows adds products with sums of rows.
func (l *level) mulAddRows(_, _, _ *float32, _, _, _ int, _ float32, _ *int32) {}

// powRatio works out powers and ratios.
func (l *level) powRatio(_, _, _, _, _ *float32, _ int, _ *int32) {}

// maxPlane pools columns of a plane.
func (l *level) maxPlane(*PoolShape, *float32, *int32, *float32, int, *poolRow, *int32, int, int) {}

// avePlane pools columns of a plane.
func (l *level) avePlane(*PoolShape, *float32, *float32, int, *poolRow, *int32, int, int) {}

// maxPlaneGrad works out the gradient of columns of a plane.
func (l *level) maxPlaneGrad(*PoolShape, *float32, *float32, *int32, *gradRow, *poolBlock, int) {}

// avePlaneGrad works out the gradient of columns of a plane.
func (l *level) avePlaneGrad(*PoolShape, *float32, *float32, *gradRow, *poolBlock, int) {}

// The kernels of BlockPool are never called without vectors.
func (l *level) maxBlocks(*BlockPool, []float32, []uint8, []float32, meeting, float32) {}
func (l *level) aveBlocks(*BlockPool, []float32, []float32, []float32, meeting)        {}
func (l *level) maxBlocksGrad(*BlockPool, []float32, []float32, []uint8, meeting)      {}
func (l *level) aveBlocksGrad(*BlockPool, []float32, []float32, meeting)               {}

// The kernels of single layer types are never called without vectors.
func (l *level) moments(*[16]float64, *float32, int, *float32)                 {}
func (l *level) normalise(*float32, *float32, int, *float32)                   {}
func (l *level) normaliseSums(*[16]float64, *float32, *float32, int, *float32) {}
func (l *level) normaliseGrad(*float32, *float32, *float32, int, *float32)     {}

func (l *level) columnSums(*float64, *float32, *float32, int)     {}
func (l *level) columnProducts(*float64, *float32, *float32, int) {}
func (l *level) columnSquares(*float64, *float32, *float32, int)  {}

// The same of blocks of channels.
func (l *level) blockMoments(*[2 * BlockLanes]float64, *float32, int, *float32)                     {}
func (l *level) blockNormalise(*float32, *float32, int, *BlockNormal)                               {}
func (l *level) blockNormaliseSums(*[2 * BlockLanes]float64, *float32, *float32, int, *BlockNormal) {}
func (l *level) blockNormaliseAdd(*float32, *uint16, *float32, *float32, int, *BlockNormal)         {}
func (l *level) blockMaskSums(*[2 * BlockLanes]float64, *float32, *float32, *uint16, *float32, int, *BlockNormal) {
}
func (l *level) blockNormaliseGrad(*float32, *float32, *float32, int, *BlockNormal)             {}
func (l *level) nearSquares(int, *float32, *float32, *float32, *float32, int, float32, float32) {}
func (l *level) mulAddNear(int, *float32, *float32, *float32, *float32, *float32, int, float32) {}

// every copies every second or fourth value.
func (l *level) every(*float32, *float32, int, int) {}

// interleave2 copies values of two rows in turn.
func (l *level) interleave2(*float32, *float32, *float32, int) {}

// packPlaces and unpackPlaces pack the places of a row.
func (l *level) packPlaces(*uint8, *int32, *float32, int, int, int, int, int, bool) {}
func (l *level) unpackPlaces(*int32, *uint8, int, int, int, int, int)               {}

// sumShifted adds up runs.
func (l *level) sumShifted(_, _ *float32, _ *int, _, _ int, _ *int32) {}

// dotRows, mixRows and outerRows are the kernels of products with one or two rows.
func (l *level) dotRows(int, int, *float32, *float32, int, *float32, int, int, *int32)              {}
func (l *level) mixRows(int, *float32, int, *float32, int, *float32, int, int, *int32)              {}
func (l *level) outerRows(int, bool, *float32, int, int, *float32, int, *float32, int, int, *int32) {}

// pixelsFunc is a micro kernel of PixelKernel; there are none here.
type pixelsFunc func(int, *float32, int, *float32, *float32, *float32, int, bool, bool, int)

var (
	pixelsAVX512 [2][1]pixelsFunc
	pixelsAVX2   [1]pixelsFunc
)

// pixelSums adds up products over pixels.
func (l *level) pixelSums(int, *PixelRuns, []float32, *float32, []float32, int, bool, bool, int, int) {
}

// offsetsFunc and offsetSumsFunc are micro kernels of OffsetKernel and OffsetSums; there are none here.
type (
	offsetsFunc    func(int, int, *float32, int, *int, *float32, *float32, *float32, int, bool, bool)
	offsetSumsFunc func(int, int, *float32, *int, int, int, *float32, int, int, *float32, *float32, bool)
)

var (
	offsetsAVX512    [2][1]offsetsFunc
	offsetsAVX2      [1][1]offsetsFunc
	offsetSumsAVX512 [2][maxOffsetLines][1]offsetSumsFunc
	offsetSumsAVX2   [1][maxOffsetLines][1]offsetSumsFunc
)

// takenSums adds up what outputs took.
func (l *level) takenSums(_, _, _ []float32, _ []int, _ []float32, _, _ []int32) {}

// taps and tapSums are the kernels of depthwise convolutions.
func (l *level) taps(int, int, []int, *float32, int, *float32, *float32, *float32, int, bool) {}
func (l *level) tapSums(*TapRows, []int, *float32, *float32, *float32, bool)                  {}

// drop drops values at random.
func (l *level) drop(_, _ *float32, _ int, _ uint64, _ uint32, _ float32) {}

// update moves weights.
func (l *level) update(Rule, *float32, *float32, *float32, *float32, int, *float32) {}
