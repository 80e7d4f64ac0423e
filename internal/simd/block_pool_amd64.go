package simd

// The kernels of BlockPool, on the level's vectors: a block's lanes are one or two.

func (l *level) maxBlocks(p *BlockPool, dst []float32, taken []uint8, src []float32, row meeting, limit float32) {
	s, kernel := &p.shape, maxBlocksAVX2
	if l.width == 16 {
		kernel = maxBlocksAVX512
	}
	for i := 0; i < BlockLanes; i += l.width {
		kernel(&dst[i], &taken[i], &src[i], &p.columns[0].at, &p.places[row.place*s.KW], row.count, s.W*pixelBytes, s.KW*4, s.OW, limit)
	}
}

func (l *level) aveBlocks(p *BlockPool, dst, divisors, src []float32, row meeting) {
	s, kernel := &p.shape, aveBlocksAVX2
	if l.width == 16 {
		kernel = aveBlocksAVX512
	}
	for i := 0; i < BlockLanes; i += l.width {
		kernel(&dst[i], &divisors[i], &src[i], &p.columns[0].at, row.count, s.W*pixelBytes, s.OW)
	}
}

func (l *level) maxBlocksGrad(p *BlockPool, dx, dy []float32, taken []uint8, row meeting) {
	s, kernel := &p.shape, maxBlocksGradAVX2
	if l.width == 16 {
		kernel = maxBlocksGradAVX512
	}
	for i := 0; i < BlockLanes; i += l.width {
		kernel(&dx[i], &dy[i], &taken[i], &p.beside[0].at, &p.places[row.place*s.KW], row.count, s.OW*pixelBytes, s.SH*s.KW*4, s.SW*4, s.W)
	}
}

func (l *level) aveBlocksGrad(p *BlockPool, dx, share []float32, row meeting) {
	s, kernel := &p.shape, aveBlocksGradAVX2
	if l.width == 16 {
		kernel = aveBlocksGradAVX512
	}
	for i := 0; i < BlockLanes; i += l.width {
		kernel(&dx[i], &share[i], &p.beside[0].at, row.count, s.OW*pixelBytes, s.W)
	}
}
