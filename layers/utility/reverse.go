package utility

import (
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "Reverse", Doc: "the bottom with the order along an axis reversed",
		Couples: layers.OnAxis0(func(p *caffepb.LayerParameter) int32 { return p.GetReverseParam().GetAxis() }, "reverses the order of the items"),
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &reverse{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(1), Tops: layers.Exactly(1),
	})
}

// reverse is the Reverse layer of CTPN and forks for text: slice i along an axis of extent n is slice n-1-i of the bottom. The gradient is
// reversed in the same way.
type reverse struct {
	layers.Base
	dims     [3]int // outer x n x inner
	kernel   *stream.Units
	dst, src []float32
}

func (l *reverse) SetUp(_, _ []*blob.Blob) error { return nil }

// reverseTile is the number of values that a unit moves.
const reverseTile = 4096

func (l *reverse) Reshape(bottom, top []*blob.Blob) error {
	axis, err := part.AxisOf(bottom[0], int(l.Param.GetReverseParam().GetAxis()))
	if err != nil {
		return err
	}
	top[0].ReshapeLike(bottom[0])
	dims := [3]int{bottom[0].CountRange(0, axis), bottom[0].Dim(axis), bottom[0].CountFrom(axis + 1)}
	if l.dims == dims {
		return nil
	}
	if l.dims = dims; !l.MPE() {
		l.prepare()
	}
	return nil
}

// prepare makes the kernel. Its units are runs of whole slices, or parts of one, so that they are contiguous in both arrays.
func (l *reverse) prepare() {
	m, n, inner := l.Device.Machine, l.dims[1], l.dims[2]
	limit := max(1, min(reverseTile, stream.UnitLimit(m)/2))
	rows, cols := max(1, min(n, limit/max(1, inner))), max(1, min(inner, limit))
	down, across := (n+rows-1)/rows, (inner+cols-1)/cols
	l.kernel = stream.NewUnits(m, "reverse", l.dims[0]*down*across, l.dims[0]*n*inner, func(w *stream.UnitWorker, unit int) {
		first, at := unit/across%down*rows, unit%across*cols
		r, c, outer := min(rows, n-first), min(cols, inner-at), unit/across/down*n*inner
		src, _ := w.Load(stream.Span(l.src, outer+first*inner+at, r*c))
		dst, _ := w.Place(stream.Span(l.dst, outer+(n-first-r)*inner+at, r*c))
		if w.Cost(r*c, 0); w.Values() {
			for i := range r {
				copy(dst[(r-1-i)*c:][:c], src[i*c:])
			}
		}
	})
}

func (l *reverse) run(dst, src []float32) error {
	if l.kernel != nil {
		l.dst, l.src = dst, src
		return l.kernel.Run()
	}
	n, inner := l.dims[1], l.dims[2]
	for i := range dst {
		k := i / inner % n
		dst[i] = src[i+(n-1-2*k)*inner]
	}
	return nil
}

func (l *reverse) Forward(bottom, top []*blob.Blob) error {
	return l.run(top[0].Data(), bottom[0].Data())
}

// Traits implements Planned. Backward reverses gradients.
func (l *reverse) Traits() layers.Traits { return layers.Traits{Unread: layers.ReadsNothing} }

func (l *reverse) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if !propagateDown[0] {
		return nil
	}
	return l.run(bottom[0].Diff(), top[0].Diff())
}
