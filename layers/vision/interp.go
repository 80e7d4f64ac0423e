package vision

import (
	"errors"
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "Interp", Doc: "resizes images by bilinear interpolation, corners on corners",
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &interp{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(1), Tops: layers.Exactly(1),
	})
}

// interp is the Interp layer of DeepLab and PSPNet. It cuts pixels off (pad_beg and pad_end, at most 0), and resizes the rest so that the
// corner pixels stay corners: pixel o of n outputs lies at o * (in - 1) / (n - 1) of the input.
type interp struct {
	layers.Base
	shape   []int // of the top
	planes  int
	in      [2]int // of a bottom's plane
	pad     int    // pixels cut off at the beginning of both axes
	used    [2]int // the rest
	out     [2]int
	taps    [2][]tap // by output index
	readers [][2]int // by row of the rest: the outputs from and before which rows read it

	forward, backward *stream.Units // of one row; nil on the MPE path
	x, y              []float32
}

// tap says which inputs an output reads: at, with weight 1 - next, and at + step, with weight next.
type tap struct {
	at, step int
	next     float32
}

func (l *interp) SetUp(_, _ []*blob.Blob) error {
	p := l.Param.GetInterpParam()
	if p.GetPadBeg() > 0 || p.GetPadEnd() > 0 {
		return fmt.Errorf("only non-positive padding (cropping) is supported: pad_beg is %d, pad_end %d", p.GetPadBeg(), p.GetPadEnd())
	}
	if t := p.GetInterpType(); t != "bilinear" {
		return fmt.Errorf("interp_type %q is not supported, only bilinear is", t)
	}
	sized := p != nil && p.Height != nil && p.Width != nil
	if p == nil || p.ZoomFactor == nil && p.ShrinkFactor == nil && !sized {
		return errors.New("interp_param needs height and width, zoom_factor, or shrink_factor")
	}
	if p.GetZoomFactor() < 1 || p.GetShrinkFactor() < 1 {
		return fmt.Errorf("zoom_factor and shrink_factor must be positive, they are %d and %d", p.GetZoomFactor(), p.GetShrinkFactor())
	}
	return nil
}

// outSize returns the top's size along an axis, where the prototxt may give it as fixed. zoom_factor or shrink_factor alone come before height
// and width, and those before both factors.
func (l *interp) outSize(n int, fixed *int32) int {
	p := l.Param.GetInterpParam()
	zoom, shrink := int(p.GetZoomFactor()), int(p.GetShrinkFactor())
	if p.Height != nil && p.Width != nil && (p.ZoomFactor == nil) == (p.ShrinkFactor == nil) {
		return int(*fixed)
	}
	n = (n-1)/shrink + 1
	return n + (n-1)*(zoom-1)
}

func (l *interp) Reshape(bottom, top []*blob.Blob) error {
	if err := part.CheckImages(bottom[0]); err != nil {
		return err
	}
	p := l.Param.GetInterpParam()
	in := [2]int{bottom[0].Dim(2), bottom[0].Dim(3)}
	var used, out [2]int
	for i, fixed := range []*int32{p.Height, p.Width} {
		used[i] = in[i] + int(p.GetPadBeg()) + int(p.GetPadEnd())
		if used[i] < 1 {
			return fmt.Errorf("no pixels are left of bottom[0] with shape %s: pad_beg is %d, pad_end %d", bottom[0].ShapeString(), p.GetPadBeg(), p.GetPadEnd())
		}
		if out[i] = l.outSize(used[i], fixed); out[i] < 1 {
			return fmt.Errorf("height and width should be positive: the top would be %d pixels along axis %d", out[i], i+2)
		}
	}
	l.shape = append(l.shape[:0], bottom[0].Dim(0), bottom[0].Dim(1), out[0], out[1])
	if err := l.Device.CheckShape("the top", l.shape); err != nil {
		return err
	}
	top[0].Reshape(l.shape...)
	planes := bottom[0].CountRange(0, 2)
	if l.planes == planes && l.in == in && l.out == out {
		return nil
	}
	l.planes, l.in, l.out, l.used, l.pad = planes, in, out, used, -int(p.GetPadBeg())
	l.prepare()
	return nil
}

// prepare computes the taps and makes the kernels.
func (l *interp) prepare() {
	for axis := range l.taps {
		l.taps[axis] = make([]tap, l.out[axis])
		ratio := float32(0)
		if l.out[axis] > 1 {
			ratio = float32(l.used[axis]-1) / float32(l.out[axis]-1)
		}
		for o := range l.taps[axis] {
			at := min(int(ratio*float32(o)), l.used[axis]-1)
			l.taps[axis][o] = tap{at, min(1, l.used[axis]-1-at), ratio*float32(o) - float32(at)}
		}
	}
	l.readers = make([][2]int, l.used[0])
	for o, t := range l.taps[0] {
		for row := t.at; row <= t.at+t.step; row++ {
			if r := &l.readers[row]; r[1] == 0 {
				*r = [2]int{o, o + 1}
			} else {
				r[1] = o + 1
			}
		}
	}
	if l.MPE() {
		return
	}
	m := l.Device.Machine
	l.forward = stream.NewUnits(m, "Interp", l.planes*l.out[0], l.planes*l.out[0]*l.out[1], l.row)
	l.backward = stream.NewUnits(m, "Interp gradient", l.planes*l.in[0], l.planes*l.out[0]*l.out[1], l.gradRow)
}

// row computes a row of the top: the two rows of the bottom are mixed, then their neighbours.
func (l *interp) row(w *stream.UnitWorker, unit int) {
	t := l.taps[0][unit%l.out[0]]
	from := (unit/l.out[0]*l.in[0]+l.pad+t.at)*l.in[1] + l.pad
	rows, stride := w.Load(stream.Rect(l.x, from, 1+t.step, l.in[1], l.used[1]))
	y, _ := w.Place(stream.Span(l.y, unit*l.out[1], l.out[1]))
	mixed := w.Scratch(l.used[1])
	w.Cost(3*l.used[1]+3*l.out[1], 0)
	if !w.Values() {
		return
	}
	copy(mixed, rows[:l.used[1]])
	if t.step > 0 {
		vec.Scale(mixed, mixed, 1-t.next)
		vec.Axpy(mixed, rows[stride:][:l.used[1]], t.next)
	}
	for o, c := range l.taps[1] {
		y[o] = (1-c.next)*mixed[c.at] + c.next*mixed[c.at+c.step]
	}
}

// gradRow computes a row of the bottom's gradient from the rows of the top that read it.
func (l *interp) gradRow(w *stream.UnitWorker, unit int) {
	dx, _ := w.Place(stream.Span(l.x, unit*l.in[1], l.in[1]))
	row := unit%l.in[0] - l.pad
	if w.Values() {
		clear(dx[:l.in[1]])
	}
	if row < 0 || row >= l.used[0] {
		return
	}
	buffer := w.Buffer(l.out[1])
	for o := l.readers[row][0]; o < l.readers[row][1]; o++ {
		dy, _ := w.Fetch(buffer, stream.Span(l.y, (unit/l.in[0]*l.out[0]+o)*l.out[1], l.out[1]))
		w.Cost(4*l.out[1], 0)
		if !w.Values() {
			continue
		}
		weight := l.taps[0][o].weight(row)
		for i, c := range l.taps[1] {
			g := weight * dy[i]
			dx[l.pad+c.at] += (1 - c.next) * g
			dx[l.pad+c.at+c.step] += c.next * g
		}
	}
}

// weight returns the weight with which an output reads input i.
func (t tap) weight(i int) (w float32) {
	if i == t.at {
		w = 1 - t.next
	}
	if i == t.at+t.step {
		w += t.next
	}
	return w
}

func (l *interp) Forward(bottom, top []*blob.Blob) error {
	l.x, l.y = bottom[0].Data(), top[0].Data()
	if l.forward != nil {
		return l.forward.Run()
	}
	l.each(func(o, i int, weight float64) { l.y[o] += float32(weight * float64(l.x[i])) }, l.y)
	return nil
}

// each clears sums, then visits every output with every input that it reads, and the weight.
func (l *interp) each(visit func(o, i int, weight float64), sums []float32) {
	clear(sums)
	for o := range l.planes * l.out[0] * l.out[1] {
		plane := o / l.out[1] / l.out[0]
		v, h := l.taps[0][o/l.out[1]%l.out[0]], l.taps[1][o%l.out[1]]
		for row := v.at; row <= v.at+v.step; row++ {
			for col := h.at; col <= h.at+h.step; col++ {
				visit(o, (plane*l.in[0]+l.pad+row)*l.in[1]+l.pad+col, float64(v.weight(row))*float64(h.weight(col)))
			}
		}
	}
}

// Traits implements Planned. Interpolation is linear.
func (l *interp) Traits() layers.Traits { return layers.Traits{Unread: layers.ReadsNothing} }

func (l *interp) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if !propagateDown[0] {
		return nil
	}
	l.x, l.y = bottom[0].Diff(), top[0].Diff()
	if l.backward != nil {
		return l.backward.Run()
	}
	l.each(func(o, i int, weight float64) { l.x[i] += float32(weight * float64(l.y[o])) }, l.x)
	return nil
}
