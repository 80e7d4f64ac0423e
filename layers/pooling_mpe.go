package layers

import "github.com/swcaffe/swcaffe/cpe/kernel"

// poolWindow is one window of a plane, clipped to the image, and the divisor of its mean, for which padding counts inside
// size + pad.
type poolWindow struct {
	y0, y1, x0, x1 int
	divisor        int
}

// eachWindow visits the windows of all planes: plane's first input, the output's index, the window.
func eachWindow(s *kernel.PoolShape, visit func(plane, out int, w poolWindow)) {
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

// each visits the places of a window in their order.
func (w poolWindow) each(width int, visit func(at int)) {
	for y := w.y0; y < w.y1; y++ {
		for x := w.x0; x < w.x1; x++ {
			visit(y*width + x)
		}
	}
}

func poolForwardMPE(s *kernel.PoolShape, x, y []float32, mask []int32, key uint64) {
	eachWindow(s, func(plane, out int, w poolWindow) {
		var sum, squares float32
		best, first := int32(-1), true
		w.each(s.W, func(at int) {
			v := x[plane+at]
			sum += v
			squares += v * v
			if first || v > x[plane+int(best)] {
				best, first = int32(at), false
			}
		})
		switch {
		case s.Method == kernel.PoolAve:
			y[out] = sum / float32(w.divisor)
		case s.Method == kernel.PoolMax:
			mask[out], y[out] = best, 0
			if !first {
				y[out] = x[plane+int(best)]
			}
		case s.Train:
			threshold := kernel.UniformFloat(key, uint64(out)) * sum
			mask[out] = drawMPE(s, x[plane:], w, threshold)
			y[out] = x[plane+int(mask[out])]
		case sum > 0:
			y[out] = squares / sum
		default:
			y[out] = 0
		}
	})
}

// drawMPE returns the first place of a window at which the running sum reaches the threshold.
func drawMPE(s *kernel.PoolShape, x []float32, w poolWindow, threshold float32) int32 {
	var sum float32
	chosen, done := int32(0), false
	w.each(s.W, func(at int) {
		if !done {
			sum += x[at]
			chosen, done = int32(at), sum >= threshold
		}
	})
	return chosen
}

func poolBackwardMPE(s *kernel.PoolShape, dy []float32, mask []int32, dx []float32) {
	clear(dx)
	eachWindow(s, func(plane, out int, w poolWindow) {
		if s.Method != kernel.PoolAve {
			if mask[out] >= 0 {
				dx[plane+int(mask[out])] += dy[out]
			}
			return
		}
		w.each(s.W, func(at int) { dx[plane+at] += dy[out] / float32(w.divisor) })
	})
}
