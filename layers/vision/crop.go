package vision

import (
	"errors"
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "Crop", Doc: "a window of the first bottom, as large as the second from axis on",
		Couples: layers.OnAxis0(func(p *caffepb.LayerParameter) int32 { return p.GetCropParam().GetAxis() }, "cuts items off"),
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &crop{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(2), Tops: layers.Exactly(1),
	})
}

// crop is Caffe's Crop layer. crop_param.offset gives the window's start, once for all axes or once for each axis from axis on. The second
// bottom supplies only its shape, so its gradient is zero.
type crop struct {
	layers.Base
	from, size []int // shapes of bottom[0] and of the window that the kernels were made for
	to         []int // the window's present shape
	offset     []int // the window's start by axis
	runs       []cropRun

	forward, backward *stream.Copy
	zero, zeroShape   part.Zeroer // clear the gradients of bottom[0] and bottom[1]
}

// cropRun gives the start of one Copy in the bottom and in the top.
type cropRun struct{ from, to int }

func (l *crop) SetUp(bottom, _ []*blob.Blob) error {
	p := l.Param.GetCropParam()
	axis, err := part.AxisOf(bottom[0], int(p.GetAxis()))
	if err != nil {
		return err
	}
	if n := len(p.GetOffset()); n > 1 && n != bottom[0].NumAxes()-axis {
		return fmt.Errorf("number of offset values specified must be equal to the number of dimensions following axis: %d offsets, %d dimensions from axis %d on (%s)",
			n, bottom[0].NumAxes()-axis, axis, bottom[0].ShapeString())
	}
	l.warn(bottom[0], bottom[1])
	return nil
}

// warn says that forks find the offset that this layer takes as 0, if a crop without one drops more pixels than rounding in pooling adds.
func (l *crop) warn(b, like *blob.Blob) {
	if len(l.Param.GetCropParam().GetOffset()) > 0 || l.Device.Log == nil || b.NumAxes() != 4 || like.NumAxes() != 4 {
		return
	}
	for i := 2; i < 4; i++ {
		if drops := b.Dim(i) - like.Dim(i); drops > 1 {
			l.Device.Log.Warnf("layer %q: crop_param has no offset: the window begins at 0 and leaves out the last %d of %d pixels of axis %d, as in BVLC Caffe; forks such as HED's and FCN's find the offset from the net's padding", l.Param.GetName(), drops, b.Dim(i), i)
			return
		}
	}
}

func (l *crop) Reshape(bottom, top []*blob.Blob) error {
	if err := l.window(bottom[0], bottom[1]); err != nil {
		return err
	}
	top[0].Reshape(l.to...)
	if err := errors.Join(l.zero.Reshape(&l.Base, bottom[0].Count()), l.zeroShape.Reshape(&l.Base, bottom[1].Count())); err != nil {
		return err
	}
	if slices.Equal(l.from, bottom[0].Shape()) && slices.Equal(l.size, l.to) {
		return nil
	}
	l.from, l.size = append(l.from[:0], bottom[0].Shape()...), append(l.size[:0], l.to...)
	return l.prepare()
}

// window computes the window's start and size.
func (l *crop) window(b, like *blob.Blob) error {
	p := l.Param.GetCropParam()
	axis, ok := b.Axis(int(p.GetAxis()))
	if !ok || b.NumAxes() != like.NumAxes() {
		return fmt.Errorf("both bottoms must have axis %d and as many axes: %s and %s", p.GetAxis(), b.ShapeString(), like.ShapeString())
	}
	l.to, l.offset = append(l.to[:0], b.Shape()...), l.offset[:0]
	for i := range l.to {
		offset := 0
		if i >= axis {
			l.to[i] = like.Dim(i)
			if n := len(p.GetOffset()); n > 0 {
				offset = int(p.GetOffset()[min(i-axis, n-1)])
			}
		}
		if offset+l.to[i] > b.Dim(i) {
			return fmt.Errorf("the crop for dimension %d is out-of-bounds with size %d and offset %d: bottom[0] has shape %s", i, l.to[i], offset, b.ShapeString())
		}
		l.offset = append(l.offset, offset)
	}
	return nil
}

// cropLevel is one loop over the window: n steps, and the distance of a step in the bottom and in the top.
type cropLevel struct{ n, from, to int }

// levels merges window axes that are contiguous in both arrays, innermost first. The first level has step 1.
func (l *crop) levels() []cropLevel {
	list := []cropLevel{{1, 1, 1}}
	from, to := 1, 1
	for i := len(l.size) - 1; i >= 0; i-- {
		last := &list[len(list)-1]
		switch {
		case l.size[i] == 1:
		case from == last.n*last.from && to == last.n*last.to:
			last.n *= l.size[i]
		default:
			list = append(list, cropLevel{l.size[i], from, to})
		}
		from *= l.from[i]
		to *= l.size[i]
	}
	return list
}

// prepare makes a Copy of the three innermost levels, and the list of starts for the outer levels.
func (l *crop) prepare() (err error) {
	if l.MPE() {
		return nil
	}
	l.runs = append(l.runs[:0], cropRun{l.corner(), 0})
	levels := l.levels()
	for len(levels) < 3 {
		levels = append(levels, cropLevel{n: 1})
	}
	for _, level := range levels[3:] {
		var next []cropRun
		for _, r := range l.runs {
			for k := range level.n {
				next = append(next, cropRun{r.from + k*level.from, r.to + k*level.to})
			}
		}
		l.runs = next
	}
	cols, rows, outer := levels[0], levels[1], levels[2]
	shape := stream.CopyShape{
		Outer: outer.n, Rows: rows.n, Cols: cols.n,
		SrcOuter: outer.from, SrcRow: rows.from, DstOuter: outer.to, DstRow: rows.to,
	}
	if l.forward, err = stream.NewCopy(l.Device.Machine, shape); err != nil {
		return err
	}
	shape.SrcOuter, shape.SrcRow, shape.DstOuter, shape.DstRow = shape.DstOuter, shape.DstRow, shape.SrcOuter, shape.SrcRow
	l.backward, err = stream.NewCopy(l.Device.Machine, shape)
	return err
}

// corner returns the window's first index in the bottom.
func (l *crop) corner() int {
	at := 0
	for i, o := range l.offset {
		at = at*l.from[i] + o
	}
	return at
}

// source returns the index in the bottom of value i of the top.
func (l *crop) source(i int) int {
	at, step := 0, 1
	for a := len(l.size) - 1; a >= 0; a-- {
		at += (l.offset[a] + i%l.size[a]) * step
		i /= l.size[a]
		step *= l.from[a]
	}
	return at
}

func (l *crop) Forward(bottom, top []*blob.Blob) error {
	x, y := bottom[0].Data(), top[0].Data()
	if l.MPE() {
		for i := range y {
			y[i] = x[l.source(i)]
		}
		return nil
	}
	if len(y) == 0 {
		return nil
	}
	for _, r := range l.runs {
		if err := l.forward.Run(y[r.to:], x[r.from:]); err != nil {
			return err
		}
	}
	return nil
}

// Traits implements Planned. Backward only copies gradients.
func (l *crop) Traits() layers.Traits { return layers.Traits{Unread: layers.ReadsNothing} }

func (l *crop) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	for i, zero := range []*part.Zeroer{&l.zero, &l.zeroShape} {
		if !propagateDown[i] {
			continue
		}
		if err := zero.Run(bottom[i].Diff()); err != nil {
			return err
		}
	}
	dy := top[0].Diff()
	if !propagateDown[0] || len(dy) == 0 {
		return nil
	}
	dx := bottom[0].Diff()
	if l.MPE() {
		for i, g := range dy {
			dx[l.source(i)] = g
		}
		return nil
	}
	for _, r := range l.runs {
		if err := l.backward.Run(dx[r.from:], dy[r.to:]); err != nil {
			return err
		}
	}
	return nil
}
