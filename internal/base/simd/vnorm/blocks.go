package vnorm

import (
	"unsafe"

	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
)

// Block points to the constants of Row for each channel of a block. Only BlockNormaliseGrad reads A, B and C.
type Block struct {
	Mean, Scale, Gamma, Beta *[isa.BlockLanes]float32
	Slope                    float32
	A, B, C                  *[isa.BlockLanes]float32
}

// lane is the Row of a channel, without A, B and C.
func (p *Block) lane(i int) Row {
	return Row{Mean: p.Mean[i], Scale: p.Scale[i], Gamma: p.Gamma[i], Beta: p.Beta[i], Slope: p.Slope}
}

// BlockMoments adds Σ x and Σ (x - pivot)² of each channel to sums and squares, in float64.
func BlockMoments(sums, squares []float64, x, pivot []float32) {
	x, pivot = wholePixels(x), pivot[:isa.BlockLanes]
	var out [2 * isa.BlockLanes]float64
	if len(x) == 0 {
		return
	}
	if have.BlockMoments != none {
		have.BlockMoments.run(&out[0], &x[0], len(x), &pivot[0])
	} else {
		for i, v := range x {
			i %= isa.BlockLanes
			d := float64(v - pivot[i])
			out[i] += float64(v)
			out[isa.BlockLanes+i] += d * d
		}
	}
	addLanes(sums, squares, &out)
}

// BlockNormalise sets y[i] to the y of Row for x[i], with the constants of i's channel.
func BlockNormalise(y, x []float32, p *Block) {
	x = wholePixels(x)
	y = y[:len(x)]
	switch {
	case len(x) == 0:
	case have.BlockNormalise != none:
		have.BlockNormalise.run(&y[0], &x[0], len(x), &p.Mean[0], &p.Scale[0], &p.Gamma[0], &p.Beta[0], &p.Slope)
	default:
		for lane := range isa.BlockLanes {
			q := p.lane(lane)
			for i := lane; i < len(x); i += isa.BlockLanes {
				if _, y[i] = q.value(x[i]); y[i] < 0 {
					y[i] *= q.Slope
				}
			}
		}
	}
}

// Signs views float32 storage as signs, 16 bits for each pixel of a block of channels: bit i says whether channel i is above 0. A float32 value
// holds those of two pixels.
func Signs(values []float32) []uint16 {
	return unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(values))), 2*len(values))
}

// BlockNormaliseAdd sets y[i] to v of Row for x[i] plus other[i]; a sum below 0 is multiplied by the slope. y may be other. Unless signs is nil, it
// gets the signs of the sums.
func BlockNormaliseAdd(y []float32, signs []uint16, x, other []float32, p *Block) {
	x = wholePixels(x)
	y, other = y[:len(x)], other[:len(x)]
	if signs != nil {
		signs = signs[:len(x)/isa.BlockLanes]
	}
	switch {
	case len(x) == 0:
	case have.BlockNormaliseAdd != none:
		have.BlockNormaliseAdd.run(&y[0], unsafe.SliceData(signs), &x[0], &other[0], len(x), &p.Mean[0], &p.Scale[0], &p.Gamma[0], &p.Beta[0], &p.Slope)
	default:
		clear(signs)
		for lane := range isa.BlockLanes {
			q := p.lane(lane)
			for i := lane; i < len(x); i += isa.BlockLanes {
				_, v := q.value(x[i])
				if v += other[i]; v < 0 {
					v *= q.Slope
				}
				if y[i] = v; signs != nil && v > 0 {
					signs[i/isa.BlockLanes] |= 1 << lane
				}
			}
		}
	}
}

// BlockNormaliseSums adds Σ g*xn and Σ g of each channel to products and sums, in float64, with g as in NormaliseSums.
func BlockNormaliseSums(products, sums []float64, dy, x []float32, p *Block) {
	dy = wholePixels(dy)
	x = x[:len(dy)]
	if len(dy) == 0 {
		return
	}
	var out [2 * isa.BlockLanes]float64
	if have.BlockNormaliseSums != none {
		have.BlockNormaliseSums.run(&out[0], &dy[0], &x[0], len(dy), &p.Mean[0], &p.Scale[0], &p.Gamma[0], &p.Beta[0], &p.Slope)
	} else {
		for lane := range isa.BlockLanes {
			q := p.lane(lane)
			for i := lane; i < len(dy); i += isa.BlockLanes {
				xn, g := q.grad(dy[i], x[i])
				out[lane] += float64(g) * float64(xn)
				out[isa.BlockLanes+lane] += float64(g)
			}
		}
	}
	addLanes(products, sums, &out)
}

// BlockMaskSums sets g[i] to dy[i], times the slope where i's sign is not set. It adds Σ g*xn and Σ g of each channel to products and sums, in
// float64; g may be dy.
func BlockMaskSums(products, sums []float64, g, dy []float32, signs []uint16, x []float32, p *Block) {
	g = wholePixels(g)
	dy, signs, x = dy[:len(g)], signs[:len(g)/isa.BlockLanes], x[:len(g)]
	if len(g) == 0 {
		return
	}
	var out [2 * isa.BlockLanes]float64
	if have.BlockMaskSums != none {
		have.BlockMaskSums.run(&out[0], &g[0], &dy[0], &signs[0], &x[0], len(g), &p.Mean[0], &p.Scale[0], &p.Slope)
	} else {
		for i, v := range dy {
			lane := i % isa.BlockLanes
			if signs[i/isa.BlockLanes]>>lane&1 == 0 {
				v *= p.Slope
			}
			g[i] = v
			xn := (x[i] - p.Mean[lane]) * p.Scale[lane]
			out[lane] += float64(v) * float64(xn)
			out[isa.BlockLanes+lane] += float64(v)
		}
	}
	addLanes(products, sums, &out)
}

// BlockNormaliseGrad sets dx[i] = A * (g[i] - B - C*xn[i]) with g as in NormaliseSums and the constants of i's channel; dx may be dy. If all g
// are equal and B is their mean, the difference is exactly 0, however large A is.
func BlockNormaliseGrad(dx, dy, x []float32, p *Block) {
	dx = wholePixels(dx)
	dy, x = dy[:len(dx)], x[:len(dx)]
	switch {
	case len(dx) == 0:
	case have.BlockNormaliseGrad != none:
		have.BlockNormaliseGrad.run(&dx[0], &dy[0], &x[0], len(dx), &p.Mean[0], &p.Scale[0], &p.Gamma[0], &p.Beta[0], &p.Slope, &p.A[0], &p.B[0], &p.C[0])
	default:
		for lane := range isa.BlockLanes {
			q := p.lane(lane)
			for i := lane; i < len(dx); i += isa.BlockLanes {
				xn, g := q.grad(dy[i], x[i])
				dx[i] = p.A[lane] * (g - p.B[lane] - p.C[lane]*xn)
			}
		}
	}
}

// wholePixels returns x. It panics unless x consists of whole pixels of isa.BlockLanes values.
func wholePixels(x []float32) []float32 {
	if len(x)%isa.BlockLanes != 0 {
		panic("vnorm: a part of a pixel of a block of channels")
	}
	return x
}

// addLanes adds two sums of each channel; the second sums follow the first.
func addLanes(a, b []float64, out *[2 * isa.BlockLanes]float64) {
	a, b = a[:isa.BlockLanes], b[:isa.BlockLanes]
	for i := range a {
		a[i] += out[i]
		b[i] += out[isa.BlockLanes+i]
	}
}
