package vision

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/layers"
)

// repeatPixels repeats each pixel of planes scale x scale times, on either path.
type repeatPixels struct {
	planes, h, w, scale int
	up, down            *stream.Units // of one row of pixels; nil on the MPE path
	large, small        []float32
}

func (r *repeatPixels) reshape(b *layers.Base, planes, h, w, scale int) {
	if r.planes == planes && r.h == h && r.w == w && r.scale == scale {
		return
	}
	r.planes, r.h, r.w, r.scale = planes, h, w, scale
	if b.MPE() {
		return
	}
	m, rows, values := b.Device.Machine, planes*h, planes*h*w*scale*scale
	r.up = stream.NewUnits(m, "repeat pixels", rows, values, func(u *stream.UnitWorker, row int) {
		x, _ := u.Load(stream.Span(r.small, row*w, w))
		y, _ := u.Place(stream.Span(r.large, row*w*scale*scale, w*scale*scale))
		if u.Cost(w*scale, 0); !u.Values() {
			return
		}
		for i, v := range x[:w] {
			for k := range scale {
				y[i*scale+k] = v
			}
		}
		for k := 1; k < scale; k++ {
			copy(y[k*w*scale:(k+1)*w*scale], y[:w*scale])
		}
	})
	r.down = stream.NewUnits(m, "repeat pixels gradient", rows, values, func(u *stream.UnitWorker, row int) {
		dy, _ := u.Load(stream.Span(r.large, row*w*scale*scale, w*scale*scale))
		dx, _ := u.Place(stream.Span(r.small, row*w, w))
		if u.Cost(w*scale*scale, 0); u.Values() {
			r.sum(dx[:w], dy)
		}
	})
}

// sum writes a row of dx: the sums of dy over each pixel's copies.
func (r *repeatPixels) sum(dx, dy []float32) {
	for i := range dx {
		var sum float32
		for k := range r.scale {
			for _, v := range dy[(k*r.w+i)*r.scale:][:r.scale] {
				sum += v
			}
		}
		dx[i] = sum
	}
}

func (r *repeatPixels) forward(y, x []float32) error {
	if r.up != nil {
		r.large, r.small = y, x
		return r.up.Run()
	}
	wide := r.w * r.scale
	for i := range y {
		y[i] = x[i/wide/r.scale*r.w+i%wide/r.scale]
	}
	return nil
}

func (r *repeatPixels) backward(dx, dy []float32) error {
	if r.down != nil {
		r.large, r.small = dy, dx
		return r.down.Run()
	}
	wide := r.w * r.scale
	clear(dx)
	for i, v := range dy {
		dx[i/wide/r.scale*r.w+i%wide/r.scale] += v
	}
	return nil
}
