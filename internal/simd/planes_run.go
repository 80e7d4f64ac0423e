package simd

// Max sets dst to the largest value of each window, the first of equals, a NaN being larger than all, and mask to its index in the
// plane.
func (p *Planes) Max(dst []float32, mask []int32, src []float32) {
	p.check(len(src), min(len(dst), len(mask)))
	s := &p.shape
	for y := 0; y < s.OH; y += p.band {
		rows, n := p.maxRows[y*s.S:], min(p.band, s.OH-y)
		for i := range p.columns {
			b := &p.columns[i]
			p.level.maxPlane(s, &dst[y*s.OW+b.to], &mask[y*s.OW+b.to], &src[0], b.from, &rows[0], &b.table[0], s.OW, n)
		}
	}
}

// Average sets dst to the mean of each window, in whose size padding counts, but not beyond the same padding after the plane.
func (p *Planes) Average(dst, src []float32) {
	p.check(len(src), len(dst))
	s := &p.shape
	for y := 0; y < s.OH; y += p.band {
		rows, n := p.aveRows[y*s.S:], min(p.band, s.OH-y)
		for i := range p.columns {
			b := &p.columns[i]
			p.level.avePlane(s, &dst[y*s.OW+b.to], &src[0], b.from, &rows[0], &b.table[0], s.OW, n)
		}
	}
}

// MaxGrad sets dx to the sums of the gradients dy of those outputs whose mask names an input, in their order.
func (p *Planes) MaxGrad(dx, dy []float32, mask []int32) {
	p.check(len(dx), min(len(dy), len(mask)))
	s := &p.shape
	for y := 0; y < s.H; y += p.gradBand {
		rows, n := p.gradRows[y:], min(p.gradBand, s.H-y)
		for i := range p.inputs {
			b := &p.inputs[i]
			p.level.maxPlaneGrad(s, &dx[y*s.W], &dy[0], &mask[0], &rows[0], b, n)
		}
	}
}

// AverageGrad sets dx to the sums of the gradients dy, over their windows' sizes, of the outputs that meet an input, in their order.
// share is room for as many values as dy has.
func (p *Planes) AverageGrad(dx, dy, share []float32) {
	p.check(len(dx), min(len(dy), len(share)))
	s := &p.shape
	Div(share[:len(p.divisors)], dy, p.divisors)
	for y := 0; y < s.H; y += p.gradBand {
		rows, n := p.gradRows[y:], min(p.gradBand, s.H-y)
		for i := range p.inputs {
			b := &p.inputs[i]
			p.level.avePlaneGrad(s, &dx[y*s.W], &share[0], &rows[0], b, n)
		}
	}
}

// check panics where there are fewer values than a plane has.
func (p *Planes) check(inputs, outputs int) {
	if s := &p.shape; inputs < s.H*s.W || outputs < s.OH*s.OW {
		panic("simd: a plane is shorter than its shape")
	}
}
