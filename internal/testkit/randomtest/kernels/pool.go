package kernels

import (
	"math"
	"math/rand/v2"

	"github.com/swcaffe/swcaffe/cpe/kernel/pool"
)

// poolForm is pooling forward and backward.
type poolForm struct {
	N, C                int `least:"1"`
	H, W                int `least:"1"`
	KH, KW, SH, SW      int `least:"1"`
	PH, PW              int
	Method              string `of:"max,ave,stochastic"`
	Train               bool
	ReLU                bool
	Packed              bool
	InBlocks, OutBlocks bool // use blocked layouts if the kernel supports them
	Floor               bool // drop outputs whose windows extend beyond the image, instead of keeping them
	common
}

func drawPool(r *rand.Rand) form {
	p := &poolForm{common: drawCommon(r, 0.1), Method: pick(r, "max", "max", "max", "ave", "ave", "stochastic")}
	p.N, p.C = extent(r, 10), extent(r, 70)
	if r.IntN(2) == 0 {
		p.C = 16 * extent(r, 5)
	}
	side := pick(r, 4, 9, 20, 40, 70)
	p.H, p.W = extent(r, side), extent(r, side)
	window := func(n int) (k, s, pad int) {
		k, s = pick(r, 1, 2, 2, 3, 3, 3, 4, 5, 7, n, extent(r, 2*n)), pick(r, 1, 1, 2, 2, 3, 4, extent(r, 2*n))
		if r.IntN(20) == 0 {
			k, s = extent(r, 5000), extent(r, 5000)
		}
		if r.IntN(2) == 0 {
			pad = r.IntN(k)
		}
		return k, s, pad
	}
	p.KH, p.SH, p.PH = window(p.H)
	if p.KW, p.SW, p.PW = window(p.W); r.IntN(2) == 0 {
		p.KW, p.SW, p.PW = p.KH, p.SH, p.PH
	}
	if r.IntN(15) == 0 {
		p.KH, p.KW, p.SH, p.SW, p.PH, p.PW = p.H, p.W, 1, 1, 0, 0
	}
	p.Train, p.ReLU, p.Packed = r.IntN(2) == 0, r.IntN(3) == 0, r.IntN(2) == 0
	p.InBlocks, p.OutBlocks, p.Floor = r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(4) == 0
	if p.Method == "max" && r.IntN(4) == 0 && p.native() {
		p.Values = "special"
	}
	most := work(r, p.native())
	for p.cost() > most && max(p.N, p.C, p.H, p.W) > 1 {
		*pick(r, &p.N, &p.C, &p.H, &p.W) /= 2
		p.N, p.C, p.H, p.W = max(1, p.N), max(1, p.C), max(1, p.H), max(1, p.W)
	}
	if r.IntN(200) == 0 {
		*pick(r, &p.C, &p.H, &p.KH, &p.SH, &p.PH) = -r.IntN(2)
	}
	p.tidy()
	return p
}

// cost estimates the number of values in all windows and arrays.
func (p *poolForm) cost() int {
	oh, ow := p.outputs()
	return p.N * p.C * (max(1, oh)*max(1, ow)*min(p.KH, p.H)*min(p.KW, p.W) + p.H*p.W)
}

// tidy clears options that the method does not have.
func (p *poolForm) tidy() bool {
	if p.Method != "max" {
		p.ReLU = false
	}
	if p.Method == "stochastic" {
		p.PH, p.PW = 0, 0
	} else {
		p.Train = false
	}
	return true
}

// outputs returns the extents of the result as Caffe rounds them: up, but with padding no window starts beyond the padded image.
func (p *poolForm) outputs() (h, w int) {
	one := func(n, k, s, pad int) int {
		if s < 1 {
			return 0
		}
		room := float64(n+2*pad-k) / float64(s)
		if p.Floor {
			return int(math.Floor(room)) + 1
		}
		o := int(math.Ceil(room)) + 1
		if pad > 0 && (o-1)*s >= n+pad {
			o--
		}
		return o
	}
	return one(p.H, p.KH, p.SH, p.PH), one(p.W, p.KW, p.SW, p.PW)
}

func (p *poolForm) valid() bool {
	h, w := p.outputs()
	return min(p.N, p.C, p.PH, p.PW) >= 0 && min(p.H, p.W, p.KH, p.KW, p.SH, p.SW) > 0 && p.PH < p.KH && p.PW < p.KW && min(h, w) > 0
}

func (p *poolForm) shape(in, out bool) pool.Shape {
	s := pool.Shape{
		N: p.N, C: p.C, H: p.H, W: p.W, KH: p.KH, KW: p.KW, SH: p.SH, SW: p.SW, PH: p.PH, PW: p.PW,
		Train: p.Train, ReLU: p.ReLU, Packed: p.Packed, InBlocks: in, OutBlocks: out,
	}
	s.OH, s.OW = p.outputs()
	s.Method = map[string]pool.Method{"max": pool.Max, "ave": pool.Ave, "stochastic": pool.Stochastic}[p.Method]
	return s
}

// window is the part of an output's window inside the image, and the divisor that Caffe uses.
type window struct{ y0, y1, x0, x1, size int }

// windows visits the windows of all planes.
func (p *poolForm) windows(visit func(plane, out int, w window)) {
	oh, ow := p.outputs()
	for plane := range p.N * p.C {
		for i := range oh * ow {
			y, x := i/ow*p.SH-p.PH, i%ow*p.SW-p.PW
			w := window{max(y, 0), min(y+p.KH, p.H), max(x, 0), min(x+p.KW, p.W), 0}
			w.size = (min(y+p.KH, p.H+p.PH) - y) * (min(x+p.KW, p.W+p.PW) - x)
			visit(plane*p.H*p.W, plane*oh*ow+i, w)
		}
	}
}

// each visits the positions of a window in a plane.
func (w *window) each(width int, visit func(at int)) {
	for y := w.y0; y < w.y1; y++ {
		for x := w.x0; x < w.x1; x++ {
			visit(y*width + x)
		}
	}
}

// largest returns the maxima of all windows and their positions: of equal values, or NaN, the first; -1 for an empty window.
func (p *poolForm) largest(x []float32) (y []float64, places []int) {
	p.windows(func(plane, _ int, w window) {
		value, place := float64(-math.MaxFloat32), -1
		w.each(p.W, func(at int) {
			v := float64(x[plane+at])
			if place < 0 || v > value || v != v && value == value {
				value, place = v, at
			}
		})
		if p.ReLU && place >= 0 && value <= 0 {
			value, place = 0, -1
		}
		y, places = append(y, value), append(places, place)
	})
	return y, places
}

// spread returns the inputs' gradient for a gradient of outputs, each of which passes to one position.
func (p *poolForm) spread(places []int, dy []float32) sums {
	s := newSums(p.N * p.C * p.H * p.W)
	p.windows(func(plane, out int, _ window) {
		if places[out] >= 0 {
			s.put(plane+places[out], float64(dy[out]))
		}
	})
	return s
}

// put adds a term to a sum.
func (s *sums) put(at int, v float64) {
	s.value[at] += v
	s.size[at] += math.Abs(v)
	s.terms[at]++
}
