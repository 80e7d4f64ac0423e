package simd

import "math"

// Rows are the rows From <= y < To of a plane.
type Rows struct{ From, To int }

// Inputs returns the rows of inputs that rows of outputs meet.
func (p *BlockPool) Inputs(outputs Rows) Rows { return met(p.rows[outputs.From:outputs.To]) }

// Outputs returns the rows of outputs that rows of inputs meet.
func (p *BlockPool) Outputs(inputs Rows) Rows { return met(p.above[inputs.From:inputs.To]) }

// met returns all that is met along an axis.
func met(list []meeting) (r Rows) {
	for _, m := range list {
		first := m.first()
		switch {
		case m.count == 0:
		case r.To == 0:
			r = Rows{first, first + m.count}
		default:
			r.To = first + m.count
		}
	}
	return r
}

// values is where row y is, of rows of w pixels of which the first is here.
func (r Rows) values(y, w int) int { return (y - r.From) * w * BlockLanes }

// Max sets dst to the largest values of the windows of some rows of outputs, the first of equals, a NaN being larger than all, and
// taken to their places in the windows, counted row by row. With relu, maxima that are not above 0 become 0, from no place; NaN stays.
// dst and taken begin with the first of the rows, src with the first that they meet.
func (p *BlockPool) Max(dst []float32, taken []uint8, src []float32, outputs Rows, relu bool) {
	s, inputs, limit := &p.shape, p.Inputs(outputs), float32(math.NaN())
	p.check(len(src), min(len(dst), len(taken)), inputs, outputs)
	if relu {
		limit = 0
	}
	for y := outputs.From; y < outputs.To; y++ {
		m, to := p.rows[y], outputs.values(y, s.OW)
		if from := src[inputs.values(m.first(), s.W):]; active.width > 0 {
			active.maxBlocks(p, dst[to:], taken[to:], from, m, limit)
		} else {
			p.maxRow(dst[to:], taken[to:], from, m, limit)
		}
	}
}

// Average sets dst to the means of the windows of some rows of outputs: the sums of windows' rows are added up. dst begins with the
// first of the rows, src with the first that they meet.
func (p *BlockPool) Average(dst, src []float32, outputs Rows) {
	s, inputs := &p.shape, p.Inputs(outputs)
	p.check(len(src), len(dst), inputs, outputs)
	for y := outputs.From; y < outputs.To; y++ {
		m, to, divisors := p.rows[y], outputs.values(y, s.OW), p.divisors[y*s.OW*BlockLanes:]
		if from := src[inputs.values(m.first(), s.W):]; active.width > 0 {
			active.aveBlocks(p, dst[to:], divisors, from, m)
		} else {
			p.aveRow(dst[to:], divisors, from, m)
		}
	}
}

// MaxGrad sets some rows of dx to the sums of the gradients dy of the outputs that took an input, in their order. dx begins with the
// first of the rows, dy and taken with the first that they meet.
func (p *BlockPool) MaxGrad(dx, dy []float32, taken []uint8, inputs Rows) {
	s, outputs := &p.shape, p.Outputs(inputs)
	p.check(len(dx), min(len(dy), len(taken)), inputs, outputs)
	for y := inputs.From; y < inputs.To; y++ {
		m, to := p.above[y], inputs.values(y, s.W)
		if m.count == 0 {
			clear(dx[to : to+s.W*BlockLanes])
			continue
		}
		if from := outputs.values(m.first(), s.OW); active.width > 0 {
			active.maxBlocksGrad(p, dx[to:], dy[from:], taken[from:], m)
		} else {
			p.maxRowGrad(dx[to:], dy[from:], taken[from:], m)
		}
	}
}

// AverageGrad is as MaxGrad, of the gradients, over their windows' sizes, of all outputs that meet an input. share is room for as many
// values as dy has, and may be dy.
func (p *BlockPool) AverageGrad(dx, dy, share []float32, inputs Rows) {
	s, outputs := &p.shape, p.Outputs(inputs)
	p.check(len(dx), min(len(dy), len(share)), inputs, outputs)
	Div(share[:(outputs.To-outputs.From)*s.OW*BlockLanes], dy, p.divisors[outputs.From*s.OW*BlockLanes:])
	for y := inputs.From; y < inputs.To; y++ {
		m, to := p.above[y], inputs.values(y, s.W)
		if m.count == 0 {
			clear(dx[to : to+s.W*BlockLanes])
			continue
		}
		if from := share[outputs.values(m.first(), s.OW):]; active.width > 0 {
			active.aveBlocksGrad(p, dx[to:], from, m)
		} else {
			p.aveRowGrad(dx[to:], from, m)
		}
	}
}

// check panics where there are fewer values than rows have.
func (p *BlockPool) check(have, haveOut int, inputs, outputs Rows) {
	if have < inputs.values(inputs.To, p.shape.W) || haveOut < outputs.values(outputs.To, p.shape.OW) {
		panic("simd: rows of blocks are shorter than their shape")
	}
}
