package vnorm

import "github.com/swcaffe/swcaffe/internal/base/simd/isa"

// BlockLeaky sets y[i] to max(x[i], 0) + a*min(x[i], 0) with the slope a of i's channel, as vec.ReLU does; y may be x.
func BlockLeaky(y, x []float32, slopes *[isa.BlockLanes]float32) {
	x = wholePixels(x)
	y = y[:len(x)]
	switch {
	case len(x) == 0:
	case have.BlockLeaky != none:
		have.BlockLeaky.run(&y[0], &x[0], len(x), &slopes[0])
	default:
		for i, v := range x {
			above, below := v, v
			switch {
			case v < 0:
				above = 0
			case v > 0:
				below = 0
			}
			y[i] = above + float32(slopes[i%isa.BlockLanes]*below)
		}
	}
}

// BlockLeakyGrad sets dx[i] to dy[i], times the slope of i's channel where x[i] is not above 0; dx may be dy.
func BlockLeakyGrad(dx, dy, x []float32, slopes *[isa.BlockLanes]float32) {
	dx = wholePixels(dx)
	dy, x = dy[:len(dx)], x[:len(dx)]
	switch {
	case len(dx) == 0:
	case have.BlockLeakyGrad != none:
		have.BlockLeakyGrad.run(&dx[0], &dy[0], &x[0], len(dx), &slopes[0])
	default:
		for i, g := range dy {
			if !(x[i] > 0) {
				g *= slopes[i%isa.BlockLanes]
			}
			dx[i] = g
		}
	}
}

// BlockLeakySums adds Σ dy*min(x, 0) of each channel to sums, in float64.
func BlockLeakySums(sums []float64, dy, x []float32) {
	dy = wholePixels(dy)
	x = x[:len(dy)]
	if len(dy) == 0 {
		return
	}
	var out [2 * isa.BlockLanes]float64
	if have.BlockLeakySums != none {
		have.BlockLeakySums.run(&out[0], &dy[0], &x[0], len(dy))
	} else {
		for i, g := range dy {
			out[i%isa.BlockLanes] += float64(g) * float64(min(x[i], 0))
		}
	}
	for i := range isa.BlockLanes {
		sums[i] += out[i]
	}
}
