package kernel

import "github.com/swcaffe/swcaffe/internal/simd"

// backward spreads the gradients of a unit's planes; bands are for forward alone.
func (f *flatPool) backward(c *flatScratch, plane, planes int, p *Pool) {
	s := f.shape
	if s.Method == PoolAve {
		for k := plane; k < plane+planes; k++ {
			f.spreadMeans(c, p.y[k*s.OH*s.OW:][:s.OH*s.OW], p.x[k*s.H*s.W:][:s.H*s.W])
		}
		return
	}
	clear(p.x[plane*s.H*s.W : (plane+planes)*s.H*s.W])
	for k := plane; k < plane+planes; k++ {
		dx, dy := p.x[k*s.H*s.W:][:s.H*s.W], p.y[k*s.OH*s.OW:][:s.OH*s.OW]
		if f.halfWords {
			for i, index := range asHalves(p.mask)[k*s.OH*s.OW:][:len(dy)] {
				if index != nowhere {
					dx[index] += dy[i]
				}
			}
			continue
		}
		for i, index := range p.mask[k*s.OH*s.OW:][:len(dy)] {
			if index >= 0 {
				dx[index] += dy[i]
			}
		}
	}
}

// spreadMeans puts every output's share where its window begins in a padded plane of zeros; then each place takes the shares of the
// windows that reach it, first those that begin to its left, then those above.
func (f *flatPool) spreadMeans(c *flatScratch, dy, dx []float32) {
	s := f.shape
	n := f.ld * f.rows
	share, sum := c.value[:n], c.second[:n]
	clear(share)
	for oy := range s.OH {
		line := share[oy*s.SH*f.ld:]
		for ox, v := range dy[oy*s.OW : (oy+1)*s.OW] {
			line[ox*s.SW] = v / f.divisors[oy*s.OW+ox]
		}
	}
	copy(sum, share)
	for k := 1; k < s.KW; k++ {
		simd.Add(sum[k:], sum[k:], share)
	}
	copy(share, sum)
	for k := 1; k < s.KH; k++ {
		simd.Add(share[k*f.ld:], share[k*f.ld:], sum)
	}
	for y := range s.H {
		copy(dx[y*s.W:(y+1)*s.W], share[(y+s.PH)*f.ld+s.PW:])
	}
}
