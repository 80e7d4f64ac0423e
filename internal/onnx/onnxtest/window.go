package onnxtest

import "math"

// window is what convolutions and poolings share.
type window struct{ kernel, stride, begin, end, dilation, in, out []int }

func (c *call) window(in, kernel []int) window {
	s := len(in)
	ones, zeros := make([]int, s), make([]int, 2*s)
	for i := range ones {
		ones[i] = 1
	}
	pads := c.list("pads", zeros)
	w := window{
		kernel: c.list("kernel_shape", kernel), stride: c.list("strides", ones), begin: pads[:s], end: pads[s:], dilation: c.list("dilations", ones), in: in,
	}
	if a := c.attr("auto_pad"); a != nil && string(a.GetS()) != "NOTSET" {
		panic("auto_pad")
	}
	for i := range in {
		room := in[i] + w.begin[i] + w.end[i] - (w.dilation[i]*(w.kernel[i]-1) + 1)
		out := room/w.stride[i] + 1
		if c.int("ceil_mode", 0) != 0 && room%w.stride[i] != 0 && out*w.stride[i] < in[i]+w.begin[i] {
			out++
		}
		w.out = append(w.out, out)
	}
	return w
}

// visit calls f for the inputs of an output's window, with their place in the kernel and in the plane; at is -1 in the padding. Places behind
// the padding are left out.
func (w *window) visit(out []int, f func(k, at int)) {
	each(w.kernel, func(k int, offset []int) {
		at, inside := 0, true
		for i := range offset {
			p := out[i]*w.stride[i] - w.begin[i] + offset[i]*w.dilation[i]
			if p >= w.in[i]+w.end[i] {
				return
			}
			inside = inside && p >= 0 && p < w.in[i]
			at = at*w.in[i] + p
		}
		if !inside {
			at = -1
		}
		f(k, at)
	})
}

func conv(c *call) {
	x, wt := c.in[0], c.in[1]
	w := c.window(x.Dims[2:], wt.Dims[2:])
	group := c.int("group", 1)
	outs, per, plane, kernel := wt.Dims[0], wt.Dims[1], count(w.in), count(w.kernel)
	if x.Dims[1] != per*group {
		panic("channels differ")
	}
	y := New(append([]int{x.Dims[0], outs}, w.out...)...)
	n := 0
	for item := range x.Dims[0] {
		for o := range outs {
			first := o / (outs / group) * per
			each(w.out, func(_ int, out []int) {
				sum := 0.0
				if b := c.input(2); b != nil {
					sum = b.Data[o]
				}
				w.visit(out, func(k, at int) {
					if at < 0 {
						return
					}
					for i := range per {
						sum += x.Data[(item*x.Dims[1]+first+i)*plane+at] * wt.Data[(o*per+i)*kernel+k]
					}
				})
				y.Data[n] = sum
				n++
			})
		}
	}
	c.out[0] = y
}

func convTranspose(c *call) {
	x, wt := c.in[0], c.in[1]
	w := c.window(x.Dims[2:], wt.Dims[2:])
	group, per := c.int("group", 1), wt.Dims[1]
	var size []int
	for i, in := range x.Dims[2:] {
		more := c.list("output_padding", make([]int, len(w.begin)))[i]
		size = append(size, (in-1)*w.stride[i]+w.dilation[i]*(w.kernel[i]-1)+1-w.begin[i]-w.end[i]+more)
	}
	y := New(append([]int{x.Dims[0], per * group}, size...)...)
	if b := c.input(2); b != nil {
		for i := range y.Data {
			y.Data[i] = b.Data[i/count(size)%(per*group)]
		}
	}
	each(x.Dims, func(n int, index []int) {
		base := index[1] / (x.Dims[1] / group) * per
		each(w.kernel, func(k int, offset []int) {
			at := 0
			for i := range offset {
				p := index[2+i]*w.stride[i] + offset[i]*w.dilation[i] - w.begin[i]
				if p < 0 || p >= size[i] {
					return
				}
				at = at*size[i] + p
			}
			for o := range per {
				y.Data[(index[0]*per*group+base+o)*count(size)+at] += x.Data[n] * wt.Data[(index[1]*per+o)*count(w.kernel)+k]
			}
		})
	})
	c.out[0] = y
}

func (c *call) pool(f func(w *window, out []int, plane []float64, base int) (value float64, place int)) {
	x := c.in[0]
	w := c.window(x.Dims[2:], nil)
	dims := append(append([]int(nil), x.Dims[:2]...), w.out...)
	y, places := New(dims...), New(dims...)
	n, size := 0, count(w.in)
	for p := range x.Dims[0] * x.Dims[1] {
		each(w.out, func(_ int, out []int) {
			v, place := f(&w, out, x.Data[p*size:(p+1)*size], p*size)
			y.Data[n], places.Data[n] = v, float64(place)
			n++
		})
	}
	c.out[0] = y
	if len(c.out) > 1 {
		c.out[1] = places
	}
}

func maxPool(c *call) {
	c.pool(func(w *window, out []int, plane []float64, base int) (float64, int) {
		best, place := math.Inf(-1), -1
		w.visit(out, func(_, at int) {
			if at >= 0 && (place < 0 || plane[at] > best) {
				best, place = plane[at], base+at
			}
		})
		return best, place
	})
}

func averagePool(c *call) {
	whole := c.int("count_include_pad", 0) != 0
	c.pool(func(w *window, out []int, plane []float64, _ int) (float64, int) {
		sum, n := 0.0, 0.0
		w.visit(out, func(_, at int) {
			if at >= 0 {
				sum += plane[at]
			}
			if at >= 0 || whole {
				n++
			}
		})
		return sum / n, 0
	})
}

func global(f func(xs []float64) float64) func(c *call) {
	return func(c *call) {
		x := c.in[0]
		dims := append([]int(nil), x.Dims...)
		for i := 2; i < len(dims); i++ {
			dims[i] = 1
		}
		y, plane := New(dims...), count(x.Dims[2:])
		for i := range y.Data {
			y.Data[i] = f(x.Data[i*plane : (i+1)*plane])
		}
		c.out[0] = y
	}
}
