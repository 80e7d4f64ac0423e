package vpool

import "github.com/swcaffe/swcaffe/internal/simd/isa"

// maxRowVectors is maxRow with vectors; the kernel takes all channels of a block.
func (p *Blocks) maxRowVectors(dst []float32, taken []uint8, src []float32, row meeting, limit float32) {
	s := &p.shape
	maxBlocks(&dst[0], &taken[0], &src[0], &p.columns[0].at, &p.places[row.place*s.KW], row.count, s.W*pixelBytes, s.KW*4, s.OW, limit)
}

// aveRowVectors is aveRow with vectors.
func (p *Blocks) aveRowVectors(dst, divisors, src []float32, row meeting) {
	s := &p.shape
	for i := 0; i < isa.BlockLanes; i += isa.Width() {
		aveBlocks(&dst[i], &divisors[i], &src[i], &p.columns[0].at, row.count, s.W*pixelBytes, s.OW)
	}
}

// maxRowGradVectors is maxRowGrad with vectors, by runs of columns.
func (p *Blocks) maxRowGradVectors(dx, dy []float32, taken []uint8, row meeting) {
	s := &p.shape
	places, ld, down := &p.places[row.place*s.KW], s.OW*pixelBytes, s.SH*s.KW*4
	for _, r := range p.runs {
		for i := 0; i < isa.BlockLanes; i += isa.Width() {
			to, from := r.from*isa.BlockLanes+i, r.output*isa.BlockLanes+i
			if r.groups {
				maxBlocksGroups(s.KW, s.SW, &dx[to], &dy[from], &taken[from], places, row.count, ld, down, r.n)
			} else {
				maxBlocksGrad(&dx[to], &dy[i], &taken[i], &p.beside[r.from].at, places, row.count, ld, down, s.SW*4, r.n)
			}
		}
	}
}

// aveRowGradVectors is aveRowGrad with vectors.
func (p *Blocks) aveRowGradVectors(dx, share []float32, row meeting) {
	s := &p.shape
	for i := 0; i < isa.BlockLanes; i += isa.Width() {
		aveBlocksGrad(&dx[i], &share[i], &p.beside[0].at, row.count, s.OW*pixelBytes, s.W)
	}
}
