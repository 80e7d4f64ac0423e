package vpool

import "github.com/swcaffe/swcaffe/internal/base/simd/vec"

// Max sets dst to the largest value of each window and mask to its index in the plane. Of equal values the first is taken, and NaN is larger than
// all numbers.
func (p *Planes) Max(dst []float32, mask []int32, src []float32) {
	p.check(len(src), min(len(dst), len(mask)))
	s := &p.shape
	for y := 0; y < s.OH; y += p.band {
		rows, n := p.maxRows[y*s.S:], min(p.band, s.OH-y)
		for i := range p.columns {
			b := &p.columns[i]
			have.MaxPlane[s.K][s.S].run(&dst[y*s.OW+b.to], &mask[y*s.OW+b.to], &src[0], b.from, &rows[0].offset, &b.table[0], s.OW, n)
		}
	}
}

// Average sets dst to the mean of each window. A window's size counts padding, as much behind the plane as before it.
func (p *Planes) Average(dst, src []float32) {
	p.check(len(src), len(dst))
	s := &p.shape
	for y := 0; y < s.OH; y += p.band {
		rows, n := p.aveRows[y*s.S:], min(p.band, s.OH-y)
		for i := range p.columns {
			b := &p.columns[i]
			have.AvePlane[s.K][s.S].run(&dst[y*s.OW+b.to], &src[0], b.from, &rows[0].offset, &b.table[0], s.OW, n)
		}
	}
}

// MaxGrad sets dx to the sums of the gradients dy of the outputs whose mask names an input, in the order of the outputs.
func (p *Planes) MaxGrad(dx, dy []float32, mask []int32) {
	p.check(len(dx), min(len(dy), len(mask)))
	s := &p.shape
	for y := 0; y < s.H; y += p.gradBand {
		rows, n := p.gradRows[y:], min(p.gradBand, s.H-y)
		for i := range p.inputs {
			b := &p.inputs[i]
			have.MaxPlaneGrad[s.K][s.S].run(&dx[y*s.W], &dy[0], &mask[0], &rows[0].offset, &b.table[0], b.to, b.from, s.W, s.OW, n)
		}
	}
}

// AverageGrad sets dx to the sums of the gradients dy of the outputs whose windows contain an input, each divided by its window's size, in the order
// of the outputs. share is scratch for as many values as dy has.
func (p *Planes) AverageGrad(dx, dy, share []float32) {
	p.check(len(dx), min(len(dy), len(share)))
	s := &p.shape
	vec.Div(share[:len(p.divisors)], dy, p.divisors)
	for y := 0; y < s.H; y += p.gradBand {
		rows, n := p.gradRows[y:], min(p.gradBand, s.H-y)
		for i := range p.inputs {
			b := &p.inputs[i]
			have.AvePlaneGrad[s.K][s.S].run(&dx[y*s.W], &share[0], &rows[0].offset, &b.table[0], b.to, b.from, s.W, s.OW, n)
		}
	}
}

// check panics where slices are shorter than the planes.
func (p *Planes) check(inputs, outputs int) {
	if s := &p.shape; inputs < s.H*s.W || outputs < s.OH*s.OW {
		panic("vpool: a plane is shorter than its shape")
	}
}
