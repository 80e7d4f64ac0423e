package vpool

import (
	"math"

	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// Rows are the rows From <= y < To of a plane.
type Rows struct{ From, To int }

// Inputs returns the rows of inputs in the windows of rows of outputs.
func (p *Blocks) Inputs(outputs Rows) Rows { return met(p.rows[outputs.From:outputs.To]) }

// Outputs returns the rows of outputs whose windows contain some of the rows of inputs.
func (p *Blocks) Outputs(inputs Rows) Rows { return met(p.above[inputs.From:inputs.To]) }

// met returns the rows from the first to the last in a list.
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

// values is the offset of row y in an array of rows of w pixels that begins with row From.
func (r Rows) values(y, w int) int { return (y - r.From) * w * isa.BlockLanes }

// Max sets dst to the largest values of the windows of some rows of outputs, and taken to their places in the windows, counted row by row. Of
// equal values the first is taken, and NaN is larger than all numbers. With relu, maxima that are not above 0 become 0 and get the code of no
// place; NaN stays. dst and taken begin with the first of the rows, src with the first row of Inputs.
func (p *Blocks) Max(dst []float32, taken []uint8, src []float32, outputs Rows, relu bool) {
	s, inputs, limit := &p.shape, p.Inputs(outputs), float32(math.NaN())
	p.check(len(src), min(len(dst), len(taken)), inputs, outputs)
	if relu {
		limit = 0
	}
	for y := outputs.From; y < outputs.To; y++ {
		m, to := p.rows[y], outputs.values(y, s.OW)
		p.maxRow(dst[to:], taken[to:], src[inputs.values(m.first(), s.W):], m, limit)
	}
}

// Average sets dst to the means of the windows of some rows of outputs; it adds the sums of a window's rows. dst begins with the first of the
// rows, src with the first row of Inputs.
func (p *Blocks) Average(dst, src []float32, outputs Rows) {
	s, inputs := &p.shape, p.Inputs(outputs)
	p.check(len(src), len(dst), inputs, outputs)
	for y := outputs.From; y < outputs.To; y++ {
		m, to, divisors := p.rows[y], outputs.values(y, s.OW), p.divisors[y*s.OW*isa.BlockLanes:]
		p.aveRow(dst[to:], divisors, src[inputs.values(m.first(), s.W):], m)
	}
}

// MaxGrad sets some rows of dx to the sums of the gradients dy of the outputs that took an input, in the order of the outputs. dx begins with the
// first of the rows, dy and taken with the first row of Outputs.
func (p *Blocks) MaxGrad(dx, dy []float32, taken []uint8, inputs Rows) {
	s, outputs := &p.shape, p.Outputs(inputs)
	p.check(len(dx), min(len(dy), len(taken)), inputs, outputs)
	for y := inputs.From; y < inputs.To; y++ {
		m, to := p.above[y], inputs.values(y, s.W)
		if m.count == 0 {
			clear(dx[to : to+s.W*isa.BlockLanes])
			continue
		}
		from := outputs.values(m.first(), s.OW)
		p.maxRowGrad(dx[to:], dy[from:], taken[from:], m)
	}
}

// AverageGrad sets some rows of dx to the sums of the gradients of the outputs whose windows contain an input, each divided by its window's size.
// share is scratch for as many values as dy has, and may be dy.
func (p *Blocks) AverageGrad(dx, dy, share []float32, inputs Rows) {
	s, outputs := &p.shape, p.Outputs(inputs)
	p.check(len(dx), min(len(dy), len(share)), inputs, outputs)
	vec.Div(share[:(outputs.To-outputs.From)*s.OW*isa.BlockLanes], dy, p.divisors[outputs.From*s.OW*isa.BlockLanes:])
	for y := inputs.From; y < inputs.To; y++ {
		m, to := p.above[y], inputs.values(y, s.W)
		if m.count == 0 {
			clear(dx[to : to+s.W*isa.BlockLanes])
			continue
		}
		p.aveRowGrad(dx[to:], share[outputs.values(m.first(), s.OW):], m)
	}
}

// check panics where slices are shorter than the rows.
func (p *Blocks) check(have, haveOut int, inputs, outputs Rows) {
	if have < inputs.values(inputs.To, p.shape.W) || haveOut < outputs.values(outputs.To, p.shape.OW) {
		panic("vpool: rows of blocks are shorter than their shape")
	}
}
