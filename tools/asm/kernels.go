package main

import (
	"github.com/swcaffe/swcaffe/tools/asm/vconv"
	"github.com/swcaffe/swcaffe/tools/asm/vec"
	"github.com/swcaffe/swcaffe/tools/asm/vgemm"
	"github.com/swcaffe/swcaffe/tools/asm/vnorm"
	"github.com/swcaffe/swcaffe/tools/asm/vpool"
)

// Parameters that several kernels share.
const (
	tileArgs     = ", c *float32, ldc int, accumulate bool, m, n int, words *int32"
	unpackedArgs = "k int, a *float32, lda int, b *float32, ldb int, c *float32, ldc int, accumulate bool, tiles, m, n int, words *int32"
	channelsArgs = "mean, scale, gamma, beta, slope *float32"
	poolArgs     = "src *float32, kh, kw, ld, n int, words *int32"
	planeArgs    = "src *float32, col int, rows *int, table *int32, ldo, n int"
	gradArgs     = "rows *int, table *int32, to, from, ldx, ldo, n int"
	rowsToRows   = "d *float32, ldd int, a *float32, lda int, b *float32, ldb, n int, words *int32"
)

// kernels is the list of all kernels that have assembly. The exported Go functions describe the layout of arrays; the comments here add what is
// particular to the assembly. words point to a mask (isa.Mask). n is a number of values; without words it is a multiple of the vector's lanes.
var kernels = []kernel{
	{"vec", "elementwise", "computes d[i] from d[i], x[i], y[i], s and t. A switch keeps the calls direct, so that buffers on the stack stay there.",
		"o op", "d, x, y *float32, n int, s, t float32", elementwise},
	{"vec", "reduce", "stores the sums of eight lanes over n values; n is a multiple of two vectors.",
		"f fold", "out *float64, x, y *float32, n int", folds},
	{"vec", "maxOf", "stores the maximum of each lane.", "", "out, x *float32, n int", one("maxOf", vec.MaxOf)},
	{"vec", "columnSums", "adds x to sums.", "", "sums *float64, x, y *float32, n int", one("columnSums", vec.ColumnSums)},
	{"vec", "columnProducts", "adds x*y to sums.", "", "sums *float64, x, y *float32, n int", one("columnProducts", vec.ColumnProducts)},
	{"vec", "columnSquares", "adds (x-y)² to sums.", "", "sums *float64, x, y *float32, n int", one("columnSquares", vec.ColumnSquares)},
	{"vec", "sumShifted", "adds up the runs of n values at k offsets.", "",
		"dst, src *float32, offs *int, k, n int, words *int32", one("sumShifted", vec.SumShifted)},
	{"vec", "update", "updates n weights by a rule; step points to a Step.",
		"r Rule", "weights, gradients, h0, h1 *float32, n int, step *float32", updates},
	{"vec", "drop", "multiplies values by scale or 0, at random; state is SplitMix64's state for the first number.", "",
		"dst, src *float32, n int, state uint64, below uint32, scale float32", one("drop", vec.Drop)},
	{"vec", "every", "copies n values that lie stride apart; n is positive.",
		"stride int", "dst, src *float32, n int", family("every%d", fixed([]int{2}, []int{4}), of1(vec.Every))},
	{"vec", "interleave2", "copies n values of a and of b in turn; n is positive.", "", "dst, a, b *float32, n int", one("interleave2", vec.Interleave2)},
	{"vec", "copyRows", "copies rows of n values; words are the mask of the last vector of a row.", "",
		"dst, src *float32, ldd, lds, rows, n int, words *int32", one("copyRows", vec.CopyRows)},
	{"vec", "gatherRows", "copies rows of n values, at most two vectors, from offsets; words are the mask of the last vector.", "",
		"dst, src *float32, ldd int, offs *int, rows, n int, words *int32", one("gatherRows", vec.GatherRows)},
	{"vec", "transpose", "transposes four rows of n values, n a multiple of four.", "", "dst, src *float32, ldd, lds, n int", one("transpose", vec.Transpose)},
	{"vec", "turn", "transposes a block of up to 16 rows and columns; words are the middle of a mask's.", "",
		"dst, src *float32, ldd, lds, rows, cols int, words *int32", at(16, one("turn", vec.Turn))},

	{"vgemm", "micro", "is the micro-kernel of packed panels: the first rows of a panel of A, some vectors of columns, m rows and n columns stored.",
		"rows, vectors int", "k int, a, b" + tileArgs, family("micro%dx%d", tiles, of2(vgemm.Micro))},
	{"vgemm", "byRows", "is the micro-kernel of operands that are not packed, values of a row of A side by side; the last tile stores m rows.",
		"rows, vectors int", unpackedArgs, family("rows%dx%d", tiles, of2(vgemm.ByRows))},
	{"vgemm", "byColumns", "is byRows with values of a column of A side by side.",
		"rows, vectors int", unpackedArgs, family("columns%dx%d", tiles, of2(vgemm.ByColumns))},
	{"vgemm", "scattered", "is the micro-kernel whose rows of B lie at offsets; v points to a Vector for each vector.",
		"rows, vectors int", "k int, a, b *float32, offs *int, c *float32, ldc int, v *int, words *int32, accumulate bool",
		family("scattered%dx%d", scatteredTiles, of2(vgemm.Scattered))},
	{"vgemm", "packPanel", "packs a panel of A of up to 12 rows; words are the middle of a mask's.", "",
		"dst, src *float32, ld, rows, k int, words *int32", at(16, one("packPanel12", vgemm.PackPanel))},
	{"vgemm", "packA", "packs a full panel of A of six rows, k a multiple of four.", "", "dst, src *float32, ld, k int", one("packA6", vgemm.PackA)},
	{"vgemm", "packB", "packs whole panels of B.", "", "dst, src *float32, ld, k, panels int", one("packB", vgemm.PackB)},
	{"vgemm", "dotRows", "multiplies m rows of a with n of b.",
		"m, n int", "sums, a *float32, lda int, b *float32, ldb, k int, words *int32",
		family("dotRows%dx%d", fixed([]int{1, 4}, []int{1, 1}, []int{2, 4}, []int{2, 1}), of2(vgemm.DotRows))},
	{"vgemm", "mixRows", "adds four rows, times coefficients, to each of m.", "m int", rowsToRows, family("mixRows%d", numbers(2), of1(vgemm.MixRows))},
	{"vgemm", "outerRows", "multiplies m columns with m rows, and adds or stores the products.",
		"m int, add bool", "d *float32, ldd, rows int, a *float32, lda int, x *float32, ldx, n int, words *int32", outerProducts},

	{"vconv", "pixels", "is the micro-kernel of pointwise convolutions of blocks of channels, for tiles of some pixels and vectors.",
		"pixels, vectors int", "blocks int, a *float32, jumpA int, b, start, c *float32, jumpC int, accumulate, floor bool, tiles int",
		family("pixels%dx%d", pixelTiles, of2(vconv.Pixels))},
	{"vconv", "pixelSums", "is the micro-kernel of their weight gradient.",
		"rows, vectors int", "runs, pixels int, a *float32, nextA, stepA, thenA int, b *float32, jumpB, nextB int, ahead *float32, nextAhead, jumpAhead int" +
			", c *float32, ldc int, accumulate bool, tiles int, m, n int, words *int32",
		family("pixelSums%dx%d", pixelSumTiles, of2(vconv.PixelSums))},
	{"vconv", "offsets", "is the micro-kernel of convolutions of planes to blocks of channels, for tiles of some pixels and vectors.",
		"pixels, vectors int", "tiles, k int, x *float32, apart int, offs *int, b, start, c *float32, jumpC int, accumulate, floor bool",
		family("offsets%dx%d", pixelTiles, of2(vconv.Offsets))},
	{"vconv", "offsetSums", "is the micro-kernel of their weight gradient, for width kernel offsets of each line.",
		"lines, width, vectors int", "rows, pixels int, x *float32, offs *int, step, nextX int, y *float32, jumpY, nextY int, ahead, c *float32, accumulate bool",
		family("offsetSums%dx%dx%d", offsetSumTiles, of3(vconv.OffsetSums))},
	{"vconv", "taps", "is the micro-kernel of depthwise convolutions, for a vector of channels and tiles of some pixels.",
		"pixels int", "tiles, k int, x *float32, apart int, offs *int, w, start, c *float32, to int, floor bool",
		family("taps%d", numbers(12), of1(vconv.DepthTaps))},
	{"vconv", "tapSums", "is the micro-kernel of their weight gradient, for some kernel offsets.",
		"offsets int", "rows, pixels int, x *float32, offs *int, step, nextX int, y *float32, nextY int, c *float32, accumulate bool",
		family("tapSums%d", numbers(5), of1(vconv.DepthTapSums))},
	{"vconv", "maximaSums", "adds up the inputs that outputs took, for some runs. A run has the lanes of AVX2, with AVX-512 too.",
		"most int", "runs *int, x *float32, n int, index, places *int32, dy, sums, all *float32",
		at(vconv.MaximaLanes, family("maximaSums%d", numbers(vconv.MaximaRuns), of1(vconv.MaximaSums)))},

	{"vwinograd", "winograd", "maps n squares of vectors; strides points to Strides, bias to a vector of a Bias.",
		"kind Map, tile, kernel int", "dst, src, tmp, bias *float32, strides *int, n int", winogradMaps},

	{"vpool", "maxPool", "takes the maxima of n windows, at most a vector of them.",
		"stride int", "dst *float32, mask *int32, index, w int, " + poolArgs, family("maxPool%d", numbers(2), of1(vpool.MaxPool))},
	{"vpool", "avePool", "takes the means of n windows, at most a vector of them.",
		"stride int", "dst *float32, divisor float32, " + poolArgs, family("avePool%d", numbers(2), of1(vpool.AvePool))},
	{"vpool", "maxPlane", "takes the maxima of a vector of columns of n rows of windows.",
		"k, s int", "dst *float32, mask *int32, " + planeArgs, family("maxPlane%dx%d", poolWindows, ofWindow(vpool.MaxPlane))},
	{"vpool", "avePlane", "takes the means of a vector of columns of n rows of windows.",
		"k, s int", "dst *float32, " + planeArgs, family("avePlane%dx%d", poolWindows, ofWindow(vpool.AvePlane))},
	{"vpool", "maxPlaneGrad", "adds up the gradients of the outputs that took an input, for a block of columns of n rows of inputs.",
		"k, s int", "dx, dy *float32, mask *int32, " + gradArgs, family("maxPlaneGrad%dx%d", poolWindows, ofWindow(vpool.MaxPlaneGrad))},
	{"vpool", "avePlaneGrad", "adds up the gradients of the outputs whose window has an input, for a block of columns of n rows of inputs.",
		"k, s int", "dx, dy *float32, " + gradArgs, family("avePlaneGrad%dx%d", poolWindows, ofWindow(vpool.AvePlaneGrad))},
	{"vpool", "packPlaces", "writes the codes of the places that n outputs y took.", "",
		"codes *uint8, index *int32, y *float32, first, step, width, span, n int, relu bool", at(16, one("packPlaces", vpool.PackPlaces))},
	{"vpool", "unpackPlaces", "writes the indices that n codes stand for, -1 for no place.", "",
		"index *int32, codes *uint8, first, step, edge, span, n int", at(16, one("unpackPlaces", vpool.UnpackPlaces))},
	{"vpool", "maxBlocks", "takes the maxima of a row of n windows over pixels of a block of channels.", "",
		"dst *float32, mask *uint8, src *float32, columns *int, places *int32, count, ld, wide, n int, limit float32", one("maxBlocks", vpool.MaxBlocks)},
	{"vpool", "aveBlocks", "takes the means of a row of n windows, for a vector of channels.", "",
		"dst, divisors, src *float32, columns *int, count, ld, n int", one("aveBlocks", vpool.AveBlocks)},
	{"vpool", "maxBlocksGrad", "adds up the gradients of the outputs that took each of a row of n inputs, for a vector of channels.", "",
		"dx, dy *float32, taken *uint8, columns *int, places *int32, count, ld, down, across, n int", one("maxBlocksGrad", vpool.MaxBlocksGrad)},
	{"vpool", "aveBlocksGrad", "adds up the gradients of the outputs whose window has each of a row of n inputs, for a vector of channels.", "",
		"dx, dy *float32, columns *int, count, ld, n int", one("aveBlocksGrad", vpool.AveBlocksGrad)},
	{"vpool", "maxBlocksGroups", "is maxBlocksGrad for n groups of inputs that lie in the same windows.",
		"k, s int", "dx, dy *float32, taken *uint8, places *int32, count, ld, down, n int",
		family("maxBlocksGrad%dx%d", poolWindows, ofWindow(vpool.MaxBlocksGroups))},

	{"vnorm", "moments", "stores Σ x and Σ (x-pivot)² of half a vector's lanes each.", "", "out *float64, x *float32, n int, pivot *float32", one("moments", vnorm.Moments)},
	{"vnorm", "normalise", "normalises, scales, shifts and rectifies; p points to a Row.", "", "y, x *float32, n int, p *float32", one("normalise", vnorm.Normalise)},
	{"vnorm", "normaliseSums", "stores Σ g*xn and Σ g of half a vector's lanes each.", "",
		"out *float64, dy, x *float32, n int, p *float32", one("normaliseSums", vnorm.NormaliseSums)},
	{"vnorm", "normaliseGrad", "stores A*g + B + C*xn.", "", "dx, dy, x *float32, n int, p *float32", one("normaliseGrad", vnorm.NormaliseGrad)},
	{"vnorm", "blockMoments", "stores Σ x and Σ (x-pivot)² of each channel of a block.", "",
		"out *float64, x *float32, n int, pivot *float32", one("blockMoments", vnorm.BlockMoments)},
	{"vnorm", "blockNormalise", "is normalise with the constants of each channel of a block.", "",
		"y, x *float32, n int, " + channelsArgs, one("blockNormalise", vnorm.BlockNormalise)},
	{"vnorm", "blockNormaliseAdd", "normalises, scales, shifts, adds other and rectifies; signs, unless nil, get those of the sums.", "",
		"y *float32, signs *uint16, x, other *float32, n int, " + channelsArgs, one("blockNormaliseAdd", vnorm.BlockNormaliseAdd)},
	{"vnorm", "blockNormaliseSums", "stores Σ g*xn and Σ g of each channel of a block.", "",
		"out *float64, dy, x *float32, n int, " + channelsArgs, one("blockNormaliseSums", vnorm.BlockNormaliseSums)},
	{"vnorm", "blockMaskSums", "stores dy, times the slope where its sign is not set, to grad, and the sums of blockNormaliseSums for it.", "",
		"out *float64, grad, dy *float32, signs *uint16, x *float32, n int, mean, scale, slope *float32", one("blockMaskSums", vnorm.BlockMaskSums)},
	{"vnorm", "blockNormaliseGrad", "stores A*(g - B - C*xn) of each channel of a block.", "",
		"dx, dy, x *float32, n int, mean, scale, gamma, beta, slope, a, b, c *float32", one("blockNormaliseGrad", vnorm.BlockNormaliseGrad)},
	{"vnorm", "blockLeaky", "multiplies negative values by the slopes of a block's channels.", "", "y, x *float32, n int, slopes *float32",
		one("blockLeaky", vnorm.BlockLeaky)},
	{"vnorm", "blockLeakyGrad", "stores dy, times the slope of its channel where x is not above 0.", "", "dx, dy, x *float32, n int, slopes *float32",
		one("blockLeakyGrad", vnorm.BlockLeakyGrad)},
	{"vnorm", "blockLeakySums", "stores Σ dy*min(x, 0) and Σ dy of each channel of a block.", "", "out *float64, dy, x *float32, n int",
		one("blockLeakySums", vnorm.BlockLeakySums)},
	{"vnorm", "nearSquares", "stores scale*Σ x² + shift over windows of size channels.",
		"size int", "dst, below, x, above *float32, n int, scale, shift float32", family("nearSquares%d", fixed([]int{3}, []int{5}), of1(vnorm.NearSquares))},
	{"vnorm", "mulAddNear", "adds scale*by*Σ x over windows of size channels.",
		"size int", "dst, by, below, x, above *float32, n int, scale float32", family("mulAddNear%d", fixed([]int{3}, []int{5}), of1(vnorm.MulAddNear))},
	{"vnorm", "sumSquares", "stores scale*Σ x² + shift, the sum being over rows.", "",
		"dst, src *float32, ld, rows, n int, scale, shift float32, words *int32", one("sumSquares", vnorm.SumSquares)},
	{"vnorm", "mulAddRows", "adds scale*x times the sum of rows to dst.", "",
		"dst, x, src *float32, ld, rows, n int, scale float32, words *int32", one("mulAddRows", vnorm.MulAddRows)},
	{"vnorm", "powRatio", "stores dy*s^-0.75 and dy*x*s^-1.75.", "",
		"own, ratio, dy, x, s *float32, n int, words *int32", one("powRatio", vnorm.PowRatio)},
}
