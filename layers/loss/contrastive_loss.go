package loss

import (
	"errors"
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "ContrastiveLoss", Doc: "pulls similar pairs of vectors together and pushes the others margin apart",
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &contrastiveLoss{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(3), Tops: layers.Exactly(1), Loss: true, NoForceBackward: []int{2},
	})
}

// contrastiveLoss is Caffe's ContrastiveLoss layer (Hadsell, Chopra and LeCun 2006). Bottoms a and b are items x channels. The third bottom
// y is not 0 for similar pairs. With d = |a - b|,
//
//	loss = 1/(2N) * sum over items of y*d^2 + (1-y)*max(margin - d, 0)^2.
//
// legacy_version uses max(margin - d^2, 0). As in Caffe, the gradient divides by d + 0.0001.
type contrastiveLoss struct {
	layers.Base
	margin float64
	legacy bool

	dims   [3]int
	diff   *blob.Blob // a - b
	dist   []float64  // d^2 by item
	factor []float32  // by item: the gradient with respect to a, as a multiple of diff

	sum, grad *stream.Kernel
	ins       [2][]float32
	outs      [1][]float32
}

func (l *contrastiveLoss) SetUp(_, _ []*blob.Blob) error {
	p := l.Param.GetContrastiveLossParam()
	l.margin, l.legacy, l.diff = float64(p.GetMargin()), p.GetLegacyVersion(), l.Device.NewBlob(0)
	return nil
}

func (l *contrastiveLoss) Reshape(bottom, top []*blob.Blob) error {
	a, b, y := bottom[0], bottom[1], bottom[2]
	items := a.Legacy(0)
	switch {
	case a.NumAxes() == 0 || a.Count() != a.Legacy(0)*a.Legacy(1) || a.Count() != b.Count() || b.Legacy(0) != items:
		return fmt.Errorf("both inputs must have one shape, items x channels: %s and %s", a.ShapeString(), b.ShapeString())
	case y.Count() != items:
		return fmt.Errorf("there must be one label per pair: %d pairs, labels have shape %s", items, y.ShapeString())
	}
	top[0].Reshape()
	l.diff.ReshapeLike(a)
	dims := [3]int{1, items, a.Legacy(1)}
	if l.dims == dims {
		return nil
	}
	l.dims, l.dist, l.factor = dims, pages.Make[float64](items), pages.Make[float32](items)
	if l.MPE() {
		return nil
	}
	return l.prepare()
}

func (l *contrastiveLoss) prepare() error {
	streams := part.StreamsOf(&l.Base)
	l.sum = streams.Make(stream.Pass{
		Name: "contrastive loss", Dims: l.dims, Ins: part.Arrays(2), Outs: part.Arrays(1), Sums: 1, Cost: stream.Work{Flops: 3},
		Op: func(t *stream.Tile) {
			for m := range t.M {
				d := t.Out[0][m*t.MStride:][:t.I]
				vec.Sub(d, t.In[0][m*t.MStride:], t.In[1][m*t.MStride:])
				t.Sum[m] += vec.SumSq(d)
			}
		},
	})
	l.grad = streams.Make(stream.Pass{
		Name: "contrastive loss gradient", Dims: l.dims, Ins: part.Arrays(1, stream.Row), Outs: part.Arrays(1), Cost: stream.Work{Flops: 1},
		Op: func(t *stream.Tile) {
			for m := range t.M {
				vec.Scale(t.Out[0][m*t.MStride:][:t.I], t.In[0][m*t.MStride:], t.In[1][m])
			}
		},
	})
	return streams.Err
}

func similar(label float32) bool { return int(label) != 0 }

func (l *contrastiveLoss) Forward(bottom, top []*blob.Blob) error {
	a, b, diff := bottom[0].Data(), bottom[1].Data(), l.diff.Data()
	if l.MPE() {
		clear(l.dist)
		for i := range a {
			d := float64(a[i]) - float64(b[i])
			diff[i] = float32(d)
			l.dist[i/l.dims[2]] += d * d
		}
	} else {
		l.ins, l.outs[0] = [2][]float32{a, b}, diff
		if err := l.sum.Run(l.ins[:], l.outs[:]); err != nil {
			return err
		}
		copy(l.dist, l.sum.Sums())
	}
	var sum float64
	for n, v := range bottom[2].Data() {
		switch d2 := l.dist[n]; {
		case similar(v):
			sum += d2
		case l.legacy:
			sum += max(l.margin-d2, 0)
		default:
			m := max(l.margin-math.Sqrt(d2), 0)
			sum += m * m
		}
	}
	top[0].Data()[0] = float32(sum / 2 / float64(max(1, l.dims[1])))
	return nil
}

// slope returns the derivative of an item's loss with respect to a, as a multiple of a - b.
func (l *contrastiveLoss) slope(label float32, d2 float64) float64 {
	d := math.Sqrt(d2)
	switch {
	case similar(label):
		return 1
	case l.legacy && d2 < l.margin:
		return -1
	case !l.legacy && d < l.margin:
		return -(l.margin - d) / (d + 1e-4)
	}
	return 0
}

// Traits implements Planned. Forward keeps a - b; Backward reads the labels.
func (l *contrastiveLoss) Traits() layers.Traits {
	return layers.Traits{Unread: layers.Unread{Bottoms: layers.SomeBottoms(0, 1), Tops: true}, Keeps: []*blob.Blob{l.diff}}
}

func (l *contrastiveLoss) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if propagateDown[2] {
		return errors.New("the layer cannot backpropagate to label inputs (bottom 2)")
	}
	scale := float64(top[0].Diff()[0]) / float64(max(1, l.dims[1]))
	for i, sign := range []float64{1, -1} {
		if !propagateDown[i] {
			continue
		}
		for n, v := range bottom[2].Data() {
			l.factor[n] = float32(sign * scale * l.slope(v, l.dist[n]))
		}
		dx := bottom[i].Diff()
		if !l.MPE() {
			l.ins, l.outs[0] = [2][]float32{l.diff.Data(), l.factor}, dx
			if err := l.grad.Run(l.ins[:], l.outs[:]); err != nil {
				return err
			}
			continue
		}
		for k, d := range l.diff.Data() {
			dx[k] = d * l.factor[k/l.dims[2]]
		}
	}
	return nil
}
