package simd

import "unsafe"

// BlockNormal points to the constants of a block of channels, of which value i is lane i's: those of Normal, and A, B and C, which
// only BlockNormaliseGrad reads.
type BlockNormal struct {
	Mean, Scale, Gamma, Beta *[BlockLanes]float32
	Slope                    float32
	A, B, C                  *[BlockLanes]float32
}

// lane is the Normal of a lane but for A, B and C.
func (p *BlockNormal) lane(i int) Normal {
	return Normal{Mean: p.Mean[i], Scale: p.Scale[i], Gamma: p.Gamma[i], Beta: p.Beta[i], Slope: p.Slope}
}

// BlockMoments adds Σ x and Σ (x - pivot)² of each lane of pixels of BlockLanes values to sums and squares, in float64.
func BlockMoments(sums, squares []float64, x, pivot []float32) {
	x, pivot = wholePixels(x), pivot[:BlockLanes]
	var out [2 * BlockLanes]float64
	if len(x) == 0 {
		return
	}
	if active.width > 0 {
		active.blockMoments(&out, &x[0], len(x), &pivot[0])
	} else {
		for i, v := range x {
			i %= BlockLanes
			d := float64(v - pivot[i])
			out[i] += float64(v)
			out[BlockLanes+i] += d * d
		}
	}
	addLanes(sums, squares, &out)
}

// BlockNormalise sets y[i] as Normal says, with the constants of i's lane.
func BlockNormalise(y, x []float32, p *BlockNormal) {
	x = wholePixels(x)
	y = y[:len(x)]
	switch {
	case len(x) == 0:
	case active.width > 0:
		active.blockNormalise(&y[0], &x[0], len(x), p)
	default:
		for lane := range BlockLanes {
			q := p.lane(lane)
			for i := lane; i < len(x); i += BlockLanes {
				if _, y[i] = q.value(x[i]); y[i] < 0 {
					y[i] *= q.Slope
				}
			}
		}
	}
}

// Signs views values as the signs of pixels of a block of channels: bit i of a pixel's says whether lane i is above 0. A value holds those
// of two pixels.
func Signs(values []float32) []uint16 {
	return unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(values))), 2*len(values))
}

// BlockNormaliseAdd sets y[i] to what BlockNormalise makes of x[i] without a slope, plus other[i], and times the slope where that is below
// 0; y may be other. The signs of its pixels go to signs, unless that is nil.
func BlockNormaliseAdd(y []float32, signs []uint16, x, other []float32, p *BlockNormal) {
	x = wholePixels(x)
	y, other = y[:len(x)], other[:len(x)]
	if signs != nil {
		signs = signs[:len(x)/BlockLanes]
	}
	switch {
	case len(x) == 0:
	case active.width > 0:
		active.blockNormaliseAdd(&y[0], unsafe.SliceData(signs), &x[0], &other[0], len(x), p)
	default:
		clear(signs)
		for lane := range BlockLanes {
			q := p.lane(lane)
			for i := lane; i < len(x); i += BlockLanes {
				_, v := q.value(x[i])
				if v += other[i]; v < 0 {
					v *= q.Slope
				}
				if y[i] = v; signs != nil && v > 0 {
					signs[i/BlockLanes] |= 1 << lane
				}
			}
		}
	}
}

// BlockNormaliseSums adds Σ g*xn and Σ g of each lane to products and sums, in float64, with g as in NormaliseSums.
func BlockNormaliseSums(products, sums []float64, dy, x []float32, p *BlockNormal) {
	dy = wholePixels(dy)
	x = x[:len(dy)]
	if len(dy) == 0 {
		return
	}
	var out [2 * BlockLanes]float64
	if active.width > 0 {
		active.blockNormaliseSums(&out, &dy[0], &x[0], len(dy), p)
	} else {
		for lane := range BlockLanes {
			q := p.lane(lane)
			for i := lane; i < len(dy); i += BlockLanes {
				xn, g := q.grad(dy[i], x[i])
				out[lane] += float64(g) * float64(xn)
				out[BlockLanes+lane] += float64(g)
			}
		}
	}
	addLanes(products, sums, &out)
}

// BlockMaskSums sets g[i] = dy[i], times the slope where its sign is not set, and adds Σ g*xn and Σ g of each lane to products and sums, in
// float64, with the constants of i's lane; g may be dy.
func BlockMaskSums(products, sums []float64, g, dy []float32, signs []uint16, x []float32, p *BlockNormal) {
	g = wholePixels(g)
	dy, signs, x = dy[:len(g)], signs[:len(g)/BlockLanes], x[:len(g)]
	if len(g) == 0 {
		return
	}
	var out [2 * BlockLanes]float64
	if active.width > 0 {
		active.blockMaskSums(&out, &g[0], &dy[0], &signs[0], &x[0], len(g), p)
	} else {
		for i, v := range dy {
			lane := i % BlockLanes
			if signs[i/BlockLanes]>>lane&1 == 0 {
				v *= p.Slope
			}
			g[i] = v
			xn := (x[i] - p.Mean[lane]) * p.Scale[lane]
			out[lane] += float64(v) * float64(xn)
			out[BlockLanes+lane] += float64(v)
		}
	}
	addLanes(products, sums, &out)
}

// BlockNormaliseGrad sets dx[i] = A * (g[i] - B - C*xn[i]) with g as in NormaliseSums and the constants of i's lane; dx may be dy.
// Where B is the mean of g this is exact for g alike, whatever A.
func BlockNormaliseGrad(dx, dy, x []float32, p *BlockNormal) {
	dx = wholePixels(dx)
	dy, x = dy[:len(dx)], x[:len(dx)]
	switch {
	case len(dx) == 0:
	case active.width > 0:
		active.blockNormaliseGrad(&dx[0], &dy[0], &x[0], len(dx), p)
	default:
		for lane := range BlockLanes {
			q := p.lane(lane)
			for i := lane; i < len(dx); i += BlockLanes {
				xn, g := q.grad(dy[i], x[i])
				dx[i] = p.A[lane] * (g - p.B[lane] - p.C[lane]*xn)
			}
		}
	}
}

// wholePixels returns x, which must be pixels of BlockLanes values.
func wholePixels(x []float32) []float32 {
	if len(x)%BlockLanes != 0 {
		panic("simd: a part of a pixel of a block of channels")
	}
	return x
}

// addLanes adds two sums of each lane, which stand one behind the other.
func addLanes(a, b []float64, out *[2 * BlockLanes]float64) {
	a, b = a[:BlockLanes], b[:BlockLanes]
	for i := range a {
		a[i] += out[i]
		b[i] += out[BlockLanes+i]
	}
}
