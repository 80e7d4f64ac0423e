package simd

import "math"

// Max sets dst to the largest value of each window, the first of equals, a NaN being larger than all, and taken to its place in the
// window, counted row by row. With relu, maxima that are not above 0 become 0, from no place; NaN stays.
func (p *BlockPool) Max(dst []float32, taken []uint8, src []float32, relu bool) {
	p.check(len(src), min(len(dst), len(taken)))
	s, limit := &p.shape, float32(math.NaN())
	if relu {
		limit = 0
	}
	for y, r := range p.rows {
		at := y * s.OW * BlockLanes
		if src := src[r.in(s.W):]; active.width > 0 {
			active.maxBlocks(p, dst[at:], taken[at:], src, r, limit)
		} else {
			p.maxRow(dst[at:], taken[at:], src, r, limit)
		}
	}
}

// Average sets dst to the mean of each window: the sums of its rows are added up.
func (p *BlockPool) Average(dst, src []float32) {
	p.check(len(src), len(dst))
	s := &p.shape
	for y, r := range p.rows {
		at := y * s.OW * BlockLanes
		if src := src[r.in(s.W):]; active.width > 0 {
			active.aveBlocks(p, dst[at:], p.divisors[at:], src, r)
		} else {
			p.aveRow(dst[at:], p.divisors[at:], src, r)
		}
	}
}

// MaxGrad sets dx to the sums of the gradients dy of the outputs that took an input, in their order.
func (p *BlockPool) MaxGrad(dx, dy []float32, taken []uint8) {
	p.check(len(dx), min(len(dy), len(taken)))
	s := &p.shape
	for y, r := range p.above {
		at, from := y*s.W*BlockLanes, r.in(s.OW)
		if active.width > 0 {
			active.maxBlocksGrad(p, dx[at:], dy[from:], taken[from:], r)
		} else {
			p.maxRowGrad(dx[at:], dy[from:], taken[from:], r)
		}
	}
}

// AverageGrad sets dx to the sums of the gradients dy, over their windows' sizes, of the outputs that meet an input, in their order.
// share is room for as many values as dy has, and may be dy.
func (p *BlockPool) AverageGrad(dx, dy, share []float32) {
	p.check(len(dx), min(len(dy), len(share)))
	s := &p.shape
	Div(share[:len(p.divisors)], dy, p.divisors)
	for y, r := range p.above {
		at, from := y*s.W*BlockLanes, r.in(s.OW)
		if active.width > 0 {
			active.aveBlocksGrad(p, dx[at:], share[from:], r)
		} else {
			p.aveRowGrad(dx[at:], share[from:], r)
		}
	}
}

// in is where the first of the rows that are met begins, of rows of w pixels.
func (m meeting) in(w int) int { return m.at / 4 * w }

// check panics where there are fewer values than planes have.
func (p *BlockPool) check(inputs, outputs int) {
	if s := &p.shape; inputs < s.H*s.W*BlockLanes || outputs < s.OH*s.OW*BlockLanes {
		panic("simd: a plane of blocks is shorter than its shape")
	}
}
