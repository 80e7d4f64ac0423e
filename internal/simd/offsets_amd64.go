package simd

// offsetsFunc is a micro kernel of OffsetKernel for a number of pixels and vectors, offsetSumsFunc one of OffsetSums for a number of lines,
// offsets and vectors.
type (
	offsetsFunc    func(tiles, k int, x *float32, apart int, offs *int, b, start, c *float32, jumpC int, accumulate, floor bool)
	offsetSumsFunc func(rows, pixels int, x *float32, offs *int, step, nextX int, y *float32, jumpY, nextY int, ahead, c *float32, accumulate bool)
)

// offsetsAVX512 are those of one and two blocks of columns, by pixels.
var offsetsAVX512 = [...][]offsetsFunc{
	{
		offsets1x1AVX512, offsets2x1AVX512, offsets3x1AVX512, offsets4x1AVX512, offsets5x1AVX512,
		offsets6x1AVX512, offsets7x1AVX512, offsets8x1AVX512, offsets9x1AVX512, offsets10x1AVX512,
		offsets11x1AVX512, offsets12x1AVX512, offsets13x1AVX512, offsets14x1AVX512,
	},
	{
		offsets1x2AVX512, offsets2x2AVX512, offsets3x2AVX512, offsets4x2AVX512, offsets5x2AVX512,
		offsets6x2AVX512, offsets7x2AVX512, offsets8x2AVX512, offsets9x2AVX512, offsets10x2AVX512,
		offsets11x2AVX512, offsets12x2AVX512, offsets13x2AVX512, offsets14x2AVX512,
	},
}

// offsetsAVX2 are those of one block of columns, by pixels.
var offsetsAVX2 = [...][]offsetsFunc{
	{
		offsets1x2AVX2, offsets2x2AVX2, offsets3x2AVX2, offsets4x2AVX2, offsets5x2AVX2,
		offsets6x2AVX2,
	},
}

// offsetSumsAVX512 are those of one and two blocks of columns, by lines and offsets.
var offsetSumsAVX512 = [...][maxOffsetLines][]offsetSumsFunc{
	{
		{
			offsetSums1x1x1AVX512, offsetSums1x2x1AVX512, offsetSums1x3x1AVX512, offsetSums1x4x1AVX512, offsetSums1x5x1AVX512,
			offsetSums1x6x1AVX512, offsetSums1x7x1AVX512, offsetSums1x8x1AVX512, offsetSums1x9x1AVX512, offsetSums1x10x1AVX512,
			offsetSums1x11x1AVX512, offsetSums1x12x1AVX512, offsetSums1x13x1AVX512, offsetSums1x14x1AVX512,
		},
		{
			offsetSums2x1x1AVX512, offsetSums2x2x1AVX512, offsetSums2x3x1AVX512, offsetSums2x4x1AVX512, offsetSums2x5x1AVX512,
			offsetSums2x6x1AVX512, offsetSums2x7x1AVX512,
		},
		{offsetSums3x1x1AVX512, offsetSums3x2x1AVX512, offsetSums3x3x1AVX512, offsetSums3x4x1AVX512},
		{offsetSums4x1x1AVX512, offsetSums4x2x1AVX512, offsetSums4x3x1AVX512},
	},
	{
		{
			offsetSums1x1x2AVX512, offsetSums1x2x2AVX512, offsetSums1x3x2AVX512, offsetSums1x4x2AVX512, offsetSums1x5x2AVX512,
			offsetSums1x6x2AVX512, offsetSums1x7x2AVX512, offsetSums1x8x2AVX512, offsetSums1x9x2AVX512, offsetSums1x10x2AVX512,
			offsetSums1x11x2AVX512, offsetSums1x12x2AVX512, offsetSums1x13x2AVX512, offsetSums1x14x2AVX512,
		},
		{
			offsetSums2x1x2AVX512, offsetSums2x2x2AVX512, offsetSums2x3x2AVX512, offsetSums2x4x2AVX512, offsetSums2x5x2AVX512,
			offsetSums2x6x2AVX512, offsetSums2x7x2AVX512,
		},
		{offsetSums3x1x2AVX512, offsetSums3x2x2AVX512, offsetSums3x3x2AVX512, offsetSums3x4x2AVX512},
		{offsetSums4x1x2AVX512, offsetSums4x2x2AVX512, offsetSums4x3x2AVX512},
	},
}

// offsetSumsAVX2 are those of one block of columns, by lines and offsets.
var offsetSumsAVX2 = [...][maxOffsetLines][]offsetSumsFunc{
	{
		{
			offsetSums1x1x2AVX2, offsetSums1x2x2AVX2, offsetSums1x3x2AVX2, offsetSums1x4x2AVX2, offsetSums1x5x2AVX2,
			offsetSums1x6x2AVX2,
		},
		{offsetSums2x1x2AVX2, offsetSums2x2x2AVX2, offsetSums2x3x2AVX2},
		{offsetSums3x1x2AVX2, offsetSums3x2x2AVX2},
		{offsetSums4x1x2AVX2},
	},
}
