package vpool

import "github.com/swcaffe/swcaffe/internal/base/simd/isa"

// maxRow computes the maxima of a row of outputs; src begins with the first row of the windows.
func (p *Blocks) maxRow(dst []float32, taken []uint8, src []float32, row meeting, limit float32) {
	s := &p.shape
	if have.MaxBlocks != none { // for all channels of a block
		have.MaxBlocks.run(&dst[0], &taken[0], &src[0], &p.columns[0].at, &p.places[row.place*s.KW], row.count, s.W*pixelBytes, s.KW*4, s.OW, limit)
		return
	}
	for x, m := range p.columns {
		from, at := m.at/4, x*isa.BlockLanes
		for lane := range isa.BlockLanes {
			value, best := src[from+lane], row.place*s.KW+m.place
			for i := range row.count {
				for j := range m.count {
					v := src[from+(i*s.W+j)*isa.BlockLanes+lane]
					if v > value || v != v && value == value {
						value, best = v, (row.place+i)*s.KW+m.place+j
					}
				}
			}
			if value <= limit {
				value, best = 0, noPlace
			}
			dst[at+lane], taken[at+lane] = value, uint8(best)
		}
	}
}

// aveRow computes the means of a row of outputs.
func (p *Blocks) aveRow(dst, divisors, src []float32, row meeting) {
	if have.AveBlocks != none {
		for i := 0; i < isa.BlockLanes; i += isa.Lanes() {
			have.AveBlocks.run(&dst[i], &divisors[i], &src[i], &p.columns[0].at, row.count, p.shape.W*pixelBytes, p.shape.OW)
		}
		return
	}
	for x, m := range p.columns {
		at := x * isa.BlockLanes
		for lane := range isa.BlockLanes {
			var sum float32
			for i := range row.count {
				var line float32
				for j := range m.count {
					line += src[m.at/4+(i*p.shape.W+j)*isa.BlockLanes+lane]
				}
				sum += line
			}
			dst[at+lane] = sum / divisors[at+lane]
		}
	}
}

// maxRowGrad computes the gradient of a row of inputs; dy and taken begin with the first row of outputs whose windows contain it.
func (p *Blocks) maxRowGrad(dx, dy []float32, taken []uint8, row meeting) {
	s := &p.shape
	if have.MaxBlocksGrad != none {
		p.maxRunsGrad(dx, dy, taken, row)
		return
	}
	for x, m := range p.beside {
		to := dx[x*isa.BlockLanes:][:isa.BlockLanes]
		clear(to)
		for i := range row.count {
			for j := range m.count {
				place := uint8((row.place-i*s.SH)*s.KW + m.place - j*s.SW)
				from := m.at/4 + (i*s.OW+j)*isa.BlockLanes
				for lane, took := range taken[from:][:isa.BlockLanes] {
					if took == place {
						to[lane] += dy[from+lane]
					}
				}
			}
		}
	}
}

// maxRunsGrad is maxRowGrad with kernels, by runs of columns.
func (p *Blocks) maxRunsGrad(dx, dy []float32, taken []uint8, row meeting) {
	s := &p.shape
	places, ld, down := &p.places[row.place*s.KW], s.OW*pixelBytes, s.SH*s.KW*4
	for _, r := range p.runs {
		for i := 0; i < isa.BlockLanes; i += isa.Lanes() {
			to, from, n := r.from*isa.BlockLanes+i, r.output*isa.BlockLanes+i, r.n
			if r.groups && have.MaxBlocksGroups[s.KW][s.SW] != none {
				have.MaxBlocksGroups[s.KW][s.SW].run(&dx[to], &dy[from], &taken[from], places, row.count, ld, down, n)
			} else {
				if r.groups {
					n *= s.SW
				}
				have.MaxBlocksGrad.run(&dx[to], &dy[i], &taken[i], &p.beside[r.from].at, places, row.count, ld, down, s.SW*4, n)
			}
		}
	}
}

// aveRowGrad computes the gradient of a row of inputs; share begins with the first row of outputs whose windows contain it.
func (p *Blocks) aveRowGrad(dx, share []float32, row meeting) {
	if have.AveBlocksGrad != none {
		for i := 0; i < isa.BlockLanes; i += isa.Lanes() {
			have.AveBlocksGrad.run(&dx[i], &share[i], &p.beside[0].at, row.count, p.shape.OW*pixelBytes, p.shape.W)
		}
		return
	}
	for x, m := range p.beside {
		to := dx[x*isa.BlockLanes:][:isa.BlockLanes]
		clear(to)
		for i := range row.count {
			for j := range m.count {
				for lane, v := range share[m.at/4+(i*p.shape.OW+j)*isa.BlockLanes:][:isa.BlockLanes] {
					to[lane] += v
				}
			}
		}
	}
}
