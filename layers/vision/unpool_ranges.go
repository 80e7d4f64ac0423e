package vision

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/layers"
)

// unpoolRanges adds the value of each pixel to a window of a larger plane, or with average its value / window size. Windows begin a stride
// apart; the larger plane cuts them off. backward gives each pixel the mean of its window's gradient. That is the derivative if average is
// set; DeconvNet's layer divides without it too.
type unpoolRanges struct {
	planes                  int
	in, out, kernel, stride [2]int // height, width
	average                 bool

	up, down     *stream.Units // of a row of the large or small planes; nil on the MPE path
	small, large []float32
}

func (u *unpoolRanges) reshape(b *layers.Base, planes, h, w int) {
	if u.planes == planes && u.in == [2]int{h, w} {
		return
	}
	u.planes, u.in = planes, [2]int{h, w}
	if b.MPE() {
		return
	}
	m := b.Device.Machine
	u.up = stream.NewUnits(m, "Unpooling", planes*u.out[0], planes*u.out[0]*u.out[1], u.upRow)
	u.down = stream.NewUnits(m, "Unpooling gradient", planes*h, planes*h*u.kernel[0]*u.out[1], u.downRow)
}

// window returns the first pixel of window i along an axis, and the number of its pixels in the plane.
func (u *unpoolRanges) window(axis, i int) (first, n int) {
	first = i * u.stride[axis]
	return first, max(0, min(u.kernel[axis], u.out[axis]-first))
}

// around returns the range of windows that contain pixel i of an axis.
func (u *unpoolRanges) around(axis, i int) (first, end int) {
	if i >= u.kernel[axis] {
		first = (i-u.kernel[axis])/u.stride[axis] + 1
	}
	return first, max(first, min(u.in[axis], i/u.stride[axis]+1))
}

// upRow computes a row of a large plane.
func (u *unpoolRanges) upRow(w *stream.UnitWorker, unit int) {
	plane, row := unit/u.out[0], unit%u.out[0]
	first, end := u.around(0, row)
	var x []float32
	if first < end {
		x, _ = w.Load(stream.Span(u.small, (plane*u.in[0]+first)*u.in[1], (end-first)*u.in[1]))
	}
	y, _ := w.Place(stream.Span(u.large, unit*u.out[1], u.out[1]))
	if w.Cost((end-first)*u.in[1]*u.kernel[1], 0); !w.Values() {
		return
	}
	for col := range u.out[1] {
		left, right := u.around(1, col)
		var sum float32
		for i := first; i < end; i++ {
			for j := left; j < right; j++ {
				sum += u.share(x[(i-first)*u.in[1]+j], i, j)
			}
		}
		y[col] = sum
	}
}

// share returns what the pixel at row i and column j adds to each pixel of its window.
func (u *unpoolRanges) share(v float32, i, j int) float32 {
	if !u.average {
		return v
	}
	_, h := u.window(0, i)
	_, w := u.window(1, j)
	return v / float32(h*w)
}

// downRow computes a row of a small plane's gradient.
func (u *unpoolRanges) downRow(w *stream.UnitWorker, unit int) {
	plane, row := unit/u.in[0], unit%u.in[0]
	first, rows := u.window(0, row)
	var dy []float32
	if rows > 0 {
		dy, _ = w.Load(stream.Span(u.large, (plane*u.out[0]+first)*u.out[1], rows*u.out[1]))
	}
	dx, _ := w.Place(stream.Span(u.small, unit*u.in[1], u.in[1]))
	if w.Cost(rows*u.in[1]*u.kernel[1], 0); w.Values() {
		for j := range u.in[1] {
			dx[j] = u.mean(dy, rows, j)
		}
	}
}

// mean returns the mean of the window in column j of rows of a large plane, 0 if the window lies outside.
func (u *unpoolRanges) mean(dy []float32, rows, j int) float32 {
	left, n := u.window(1, j)
	if rows*n == 0 {
		return 0
	}
	var sum float64
	for y := range rows {
		for _, v := range dy[y*u.out[1]+left:][:n] {
			sum += float64(v)
		}
	}
	return float32(sum / float64(rows*n))
}

func (u *unpoolRanges) forward(y, x []float32) error {
	if u.up != nil {
		u.small, u.large = x, y
		return u.up.Run()
	}
	clear(y)
	for k, v := range x {
		plane, i, j := k/(u.in[0]*u.in[1]), k/u.in[1]%u.in[0], k%u.in[1]
		top, h := u.window(0, i)
		left, w := u.window(1, j)
		for row := top; row < top+h; row++ {
			for col := left; col < left+w; col++ {
				y[(plane*u.out[0]+row)*u.out[1]+col] += u.share(v, i, j)
			}
		}
	}
	return nil
}

func (u *unpoolRanges) backward(dx, dy []float32) error {
	if u.down != nil {
		u.small, u.large = dx, dy
		return u.down.Run()
	}
	for k := range dx {
		plane, i, j := k/(u.in[0]*u.in[1]), k/u.in[1]%u.in[0], k%u.in[1]
		first, rows := u.window(0, i)
		dx[k] = 0
		if rows > 0 {
			dx[k] = u.mean(dy[(plane*u.out[0]+first)*u.out[1]:], rows, j)
		}
	}
	return nil
}
