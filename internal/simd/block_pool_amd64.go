package simd

// The kernels of BlockPool, on the level's vectors: a block's lanes are one or two.

// maxBlocks takes the maxima of a row of outputs.
func (l *level) maxBlocks(p *BlockPool, dst []float32, taken []uint8, src []float32, row meeting, limit float32) {
	s, kernel := &p.shape, maxBlocksAVX2
	if l.width == 16 {
		kernel = maxBlocksAVX512
	}
	kernel(&dst[0], &taken[0], &src[0], &p.columns[0].at, &p.places[row.place*s.KW], row.count, s.W*pixelBytes, s.KW*4, s.OW, limit)
}

// aveBlocks takes the means of a row of outputs.
func (l *level) aveBlocks(p *BlockPool, dst, divisors, src []float32, row meeting) {
	s, kernel := &p.shape, aveBlocksAVX2
	if l.width == 16 {
		kernel = aveBlocksAVX512
	}
	for i := 0; i < BlockLanes; i += l.width {
		kernel(&dst[i], &divisors[i], &src[i], &p.columns[0].at, row.count, s.W*pixelBytes, s.OW)
	}
}

// maxBlocksGrad works out the gradient of a row of inputs.
func (l *level) maxBlocksGrad(p *BlockPool, dx, dy []float32, taken []uint8, row meeting) {
	s, kernel, groups := &p.shape, maxBlocksGradAVX2, l.groupsKernel(p)
	if l.width == 16 {
		kernel = maxBlocksGradAVX512
	}
	places, ld, down := &p.places[row.place*s.KW], s.OW*pixelBytes, s.SH*s.KW*4
	for _, r := range p.runs {
		for i := 0; i < BlockLanes; i += l.width {
			to, from := r.from*BlockLanes+i, r.output*BlockLanes+i
			if !r.groups {
				kernel(&dx[to], &dy[i], &taken[i], &p.beside[r.from].at, places, row.count, ld, down, s.SW*4, r.n)
			} else {
				groups(&dx[to], &dy[from], &taken[from], places, row.count, ld, down, r.n)
			}
		}
	}
}

// groupsKernel is the kernel for groups of inputs that meet the same outputs.
func (l *level) groupsKernel(p *BlockPool) func(dx, dy *float32, taken *uint8, places *int32, count, ld, down, n int) {
	switch wide := l.width == 16; {
	case p.shape.KW == 2 && wide:
		return maxBlocksGrad2x2AVX512
	case p.shape.KW == 2:
		return maxBlocksGrad2x2AVX2
	case p.shape.SW == 2 && wide:
		return maxBlocksGrad3x2AVX512
	case p.shape.SW == 2:
		return maxBlocksGrad3x2AVX2
	case wide:
		return maxBlocksGrad3x1AVX512
	default:
		return maxBlocksGrad3x1AVX2
	}
}

// aveBlocksGrad works out the gradient of a row of inputs.
func (l *level) aveBlocksGrad(p *BlockPool, dx, share []float32, row meeting) {
	s, kernel := &p.shape, aveBlocksGradAVX2
	if l.width == 16 {
		kernel = aveBlocksGradAVX512
	}
	for i := 0; i < BlockLanes; i += l.width {
		kernel(&dx[i], &share[i], &p.beside[0].at, row.count, s.OW*pixelBytes, s.W)
	}
}
