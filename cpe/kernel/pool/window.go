package pool

import (
	"math"

	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/simd/vpool"
)

// area is the part of a window inside the image: rows [y0,y1) and columns [x0,x1).
type area struct{ y0, y1, x0, x1 int }

func (a *area) empty() bool { return a.y0 >= a.y1 || a.x0 >= a.x1 }

// row returns columns [x0,x1) of row y of the tile's inputs.
func (t *poolTile) row(y, x0, x1 int) []float32 {
	at := (y-t.in.rows.At)*t.in.stride - t.in.cols.At
	return t.in.values[at+x0 : at+x1]
}

// gather pools the tile's windows.
func (p *Kernel) gather(t *poolTile) {
	s := &p.shape
	for oy := range t.out.rows.N {
		var a area
		a.y0, a.y1 = tiling.Window(t.out.rows.At+oy, s.SH, s.PH, s.KH, s.H)
		lo, hi := p.inner(t.out.cols)
		if a.y0 >= a.y1 || s.Method == Stochastic || lo >= hi {
			lo, hi = t.out.cols.N, t.out.cols.N
		}
		for ox := range lo {
			p.gatherOne(t, &a, oy, ox)
		}
		p.gatherRow(t, &a, oy, lo, hi)
		for ox := hi; ox < t.out.cols.N; ox++ {
			p.gatherOne(t, &a, oy, ox)
		}
		if s.ReLU {
			rectify(t.out.values[oy*t.out.stride:][:t.out.cols.N], t.indices[oy*t.out.stride:])
		}
	}
}

// rectify sets values that are not above 0 to 0 and their mask to -1. NaN and the values of empty windows stay.
func rectify(y []float32, mask []int32) {
	for i, v := range y {
		if v <= 0 && mask[i] >= 0 {
			y[i], mask[i] = 0, -1
		}
	}
}

// inner returns the outputs lo <= i < hi of a span, counted from its start, whose windows have all columns inside the image.
func (p *Kernel) inner(cols tiling.Span) (lo, hi int) {
	s := &p.shape
	lo = (s.PW + s.SW - 1) / s.SW
	hi = 0
	if most := s.W + s.PW - s.KW; most >= 0 {
		hi = most/s.SW + 1
	}
	return max(0, lo-cols.At), min(cols.N, hi-cols.At)
}

// gatherRow pools the outputs [lo, hi) of a row, whose windows have all their columns inside the image.
func (p *Kernel) gatherRow(t *poolTile, a *area, oy, lo, hi int) {
	if lo >= hi {
		return
	}
	s := &p.shape
	x := (t.out.cols.At+lo)*s.SW - s.PW
	w := vpool.Windows{KH: a.y1 - a.y0, KW: s.KW, Ld: t.in.stride, Stride: s.SW}
	src, at := t.in.values[(a.y0-t.in.rows.At)*t.in.stride+x-t.in.cols.At:], oy*t.out.stride
	if s.Method == Ave {
		vpool.Average(t.out.values[at+lo:at+hi], float32(s.divisor(t.out.rows.At+oy, t.out.cols.At+lo)), src, &w)
		return
	}
	vpool.Max(t.out.values[at+lo:at+hi], t.indices[at+lo:at+hi], src, a.y0*s.W+x, s.W, &w)
}

// gatherOne pools one window.
func (p *Kernel) gatherOne(t *poolTile, a *area, oy, ox int) {
	s := &p.shape
	a.x0, a.x1 = tiling.Window(t.out.cols.At+ox, s.SW, s.PW, s.KW, s.W)
	at := oy*t.out.stride + ox
	switch {
	case s.Method == Max:
		t.out.values[at], t.indices[at] = t.largest(a, s.W)
	case s.Method == Ave:
		t.out.values[at] = t.add(0, a) / float32(s.divisor(t.out.rows.At+oy, t.out.cols.At+ox))
	case s.Train:
		r := running{threshold: p.share(t, oy, ox) * t.add(0, a), index: -1}
		r.draw(t, a, s.W)
		t.out.values[at], t.indices[at] = r.value, r.index
	default:
		var r running
		r.addSquares(t, a)
		t.out.values[at] = r.weightedMean()
	}
}

// share returns the random share of a window's sum at which stochastic pooling draws a value.
func (p *Kernel) share(t *poolTile, oy, ox int) float32 {
	counter := (t.plane*p.shape.OH+t.out.rows.At+oy)*p.shape.OW + t.out.cols.At + ox
	return stream.Uniform(p.key, uint64(counter))
}

// divisor returns the size of a window, including its padding up to size + pad, as in Caffe.
func (s *Shape) divisor(oy, ox int) int {
	y, x := oy*s.SH-s.PH, ox*s.SW-s.PW
	return (min(y+s.KH, s.H+s.PH) - y) * (min(x+s.KW, s.W+s.PW) - x)
}

// largest returns the first of the largest values of a window and its index in the plane, which is w values wide. NaN is larger than any
// number. An empty window, as the last may be if strides are larger than windows, gives -FLT_MAX and -1, as in Caffe.
func (t *poolTile) largest(a *area, w int) (float32, int32) {
	if a.empty() {
		return -math.MaxFloat32, -1
	}
	best := a.y0*w + a.x0
	value := t.row(a.y0, a.x0, a.x1)[0]
	for y := a.y0; y < a.y1; y++ {
		for x, v := range t.row(y, a.x0, a.x1) {
			if v > value || v != v && value == value {
				value, best = v, y*w+a.x0+x
			}
		}
	}
	return value, int32(best)
}

// add adds the values of a window to a sum, in order.
func (t *poolTile) add(sum float32, a *area) float32 {
	if a.empty() {
		return sum
	}
	for y := a.y0; y < a.y1; y++ {
		for _, v := range t.row(y, a.x0, a.x1) {
			sum += v
		}
	}
	return sum
}

// running is what stochastic pooling knows of a window part of which it has seen.
type running struct {
	sum       float32
	squares   float32
	threshold float32 // of the sum, at which a value is drawn
	value     float32 // the last one, up to that which is drawn
	index     int32   // its place in the plane
	drawn     bool
}

// runningValues is the size of a running in values of LDM.
const runningValues = 6

// draw goes on to the value at which the sum passes the threshold; w is the width of the plane.
func (r *running) draw(t *poolTile, a *area, w int) {
	if a.empty() || r.drawn {
		return
	}
	for y := a.y0; y < a.y1; y++ {
		for x, v := range t.row(y, a.x0, a.x1) {
			r.value, r.index = v, int32(y*w+a.x0+x)
			if r.sum += v; r.sum >= r.threshold {
				r.drawn = true
				return
			}
		}
	}
}

// addSquares adds the values and their squares.
func (r *running) addSquares(t *poolTile, a *area) {
	if a.empty() {
		return
	}
	for y := a.y0; y < a.y1; y++ {
		for _, v := range t.row(y, a.x0, a.x1) {
			r.sum += v
			r.squares += v * v
		}
	}
}

// weightedMean returns the sum of squares over the sum.
func (r *running) weightedMean() float32 {
	if r.sum <= 0 {
		return 0
	}
	return r.squares / r.sum
}

// clear sets the tile's inputs to zero.
func (t *poolTile) clear() {
	for y := range t.in.rows.N {
		clear(t.in.values[y*t.in.stride : y*t.in.stride+t.in.cols.N])
	}
}

// spread adds the outputs' gradients, in the order of the outputs, to the tile's inputs.
func (p *Kernel) spread(t *poolTile) {
	whole := t.in.rows.N == p.shape.H && t.in.cols.N == p.shape.W
	for oy := range t.out.rows.N {
		dy := t.out.values[oy*t.out.stride:][:t.out.cols.N]
		switch {
		case p.shape.Masked() && whole:
			for ox, index := range t.indices[oy*t.out.stride:][:t.out.cols.N] {
				if index >= 0 {
					t.in.values[index] += dy[ox]
				}
			}
		case p.shape.Masked():
			for ox, index := range t.indices[oy*t.out.stride:][:t.out.cols.N] {
				p.spreadOne(t, int(index), dy[ox])
			}
		default:
			for ox, v := range dy {
				p.spreadMean(t, t.out.rows.At+oy, t.out.cols.At+ox, v)
			}
		}
	}
}

// spreadOne adds v to the input with an index in the plane, if it is in the tile.
func (p *Kernel) spreadOne(t *poolTile, index int, v float32) {
	if index < 0 {
		return
	}
	if t.in.cols.N == p.shape.W {
		if at := index - t.in.rows.At*p.shape.W; at >= 0 && at < t.in.rows.N*p.shape.W {
			t.in.values[at] += v
		}
		return
	}
	y, x := index/p.shape.W-t.in.rows.At, index%p.shape.W-t.in.cols.At
	if y >= 0 && y < t.in.rows.N && x >= 0 && x < t.in.cols.N {
		t.in.values[y*t.in.stride+x] += v
	}
}

// spreadMean adds an output's gradient, divided by the window's size, to the inputs of its window that are in the tile.
func (p *Kernel) spreadMean(t *poolTile, oy, ox int, v float32) {
	s := &p.shape
	y0, y1 := tiling.Window(oy, s.SH, s.PH, s.KH, s.H)
	x0, x1 := tiling.Window(ox, s.SW, s.PW, s.KW, s.W)
	v /= float32(s.divisor(oy, ox))
	x0, x1 = max(x0, t.in.cols.At), min(x1, t.in.cols.End())
	if x0 >= x1 {
		return
	}
	for y := max(y0, t.in.rows.At); y < min(y1, t.in.rows.End()); y++ {
		row := t.row(y, x0, x1)
		for x := range row {
			row[x] += v
		}
	}
}
