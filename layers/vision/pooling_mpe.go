package vision

import (
	"math"

	"github.com/swcaffe/swcaffe/cpe/kernel/pool"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
)

// poolWindow is one window of a plane, clipped to the image, and the divisor of its mean. The divisor counts padding inside size + pad.
type poolWindow struct {
	y0, y1, x0, x1 int
	divisor        int
}

// eachWindow visits the windows of all planes. visit gets the index of the plane's first input, the output's index and the window.
func eachWindow(s *pool.Shape, visit func(plane, out int, w poolWindow)) {
	for plane := range s.N * s.C {
		for oy := range s.OH {
			for ox := range s.OW {
				y, x := oy*s.SH-s.PH, ox*s.SW-s.PW
				yEnd, xEnd := min(y+s.KH, s.H+s.PH), min(x+s.KW, s.W+s.PW)
				w := poolWindow{max(y, 0), min(yEnd, s.H), max(x, 0), min(xEnd, s.W), (yEnd - y) * (xEnd - x)}
				visit(plane*s.H*s.W, (plane*s.OH+oy)*s.OW+ox, w)
			}
		}
	}
}

// each visits the positions in a window in order.
func (w poolWindow) each(width int, visit func(at int)) {
	for y := w.y0; y < w.y1; y++ {
		for x := w.x0; x < w.x1; x++ {
			visit(y*width + x)
		}
	}
}

func poolForwardMPE(s *pool.Shape, x, y []float32, mask []int32, key uint64) {
	eachWindow(s, func(plane, out int, w poolWindow) {
		values := x[plane:]
		switch {
		case s.Method == pool.Ave:
			y[out] = w.mean(s.W, values)
		case s.Method == pool.Max:
			y[out], mask[out] = w.largest(s.W, values)
		case s.Train:
			mask[out] = w.draw(s.W, values, stream.Uniform(key, uint64(out)))
			y[out] = 0
			if mask[out] >= 0 {
				y[out] = values[mask[out]]
			}
		default:
			y[out] = w.weightedMean(s.W, values)
		}
	})
}

func (w poolWindow) mean(width int, x []float32) float32 {
	var sum float64
	w.each(width, func(at int) { sum += float64(x[at]) })
	return float32(sum / float64(w.divisor))
}

// largest returns a window's maximum and its position. NaN counts as largest, and the first of equal values wins. An empty window gives
// Caffe's initial value, the lowest float32, and position -1.
func (w poolWindow) largest(width int, x []float32) (value float32, place int32) {
	value, place = -math.MaxFloat32, -1
	w.each(width, func(at int) {
		if v := x[at]; place < 0 || v > value || v != v {
			value, place = v, int32(at)
		}
	})
	return value, place
}

// weightedMean returns the sum of squares divided by the sum, or 0 if the sum is not positive.
func (w poolWindow) weightedMean(width int, x []float32) float32 {
	var sum, squares float64
	w.each(width, func(at int) {
		sum += float64(x[at])
		squares += float64(x[at]) * float64(x[at])
	})
	if sum <= 0 {
		return 0
	}
	return float32(squares / sum)
}

// draw returns the first position at which the running sum reaches the share u of the total, or -1 in an empty window. It sums in float32
// in the order of positions, like the kernel: another rounding could select another position.
func (w poolWindow) draw(width int, x []float32, u float32) (place int32) {
	var sum float32
	w.each(width, func(at int) { sum += x[at] })
	threshold, done := u*sum, false
	sum, place = 0, -1
	w.each(width, func(at int) {
		if !done {
			sum += x[at]
			place, done = int32(at), sum >= threshold
		}
	})
	return place
}

func poolBackwardMPE(s *pool.Shape, dy []float32, mask []int32, dx []float32) {
	clear(dx)
	eachWindow(s, func(plane, out int, w poolWindow) {
		if s.Method != pool.Ave {
			if mask[out] >= 0 {
				dx[plane+int(mask[out])] += dy[out]
			}
			return
		}
		w.each(s.W, func(at int) { dx[plane+at] += dy[out] / float32(w.divisor) })
	})
}
