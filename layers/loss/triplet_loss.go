package loss

import (
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
		Name: "TripletLoss", Doc: "pulls anchors to positives and pushes negatives margin further away",
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &tripletLoss{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Between(3, 4), Tops: layers.Exactly(1), Loss: true, NoForceBackward: []int{3},
	})
}

// tripletLoss is the TripletLoss layer of forks for face recognition (Schroff et al. 2015). For anchors a, positives p and negatives n, the
// loss is 1/(2N) times the sum over items of w * max(0, margin + |a-p|^2 - |a-n|^2). The weights w are the fourth bottom; without it they are
// 1. Where the term is positive, da = w/N * (n - p), dp = w/N * (p - a) and dn = w/N * (a - n).
type tripletLoss struct {
	layers.Base
	dims    [3]int     // 1 x items x values of an item
	factors *blob.Blob // by item: w, or 0 where the term is not positive
	scaled  []float32

	sum, grad *stream.Kernel
	ins       [3][]float32
	outs      [1][]float32
}

func (l *tripletLoss) SetUp(_, _ []*blob.Blob) error {
	l.factors = l.Device.NewBlob(0)
	return nil
}

func (l *tripletLoss) Reshape(bottom, top []*blob.Blob) error {
	if err := part.CheckSameShape(bottom[:3]); err != nil {
		return err
	}
	items := bottom[0].Legacy(0)
	if len(bottom) > 3 && bottom[3].Count() != items {
		return fmt.Errorf("bottom[3] must have a weight for each of %d items, its shape is %s", items, bottom[3].ShapeString())
	}
	top[0].Reshape()
	dims := [3]int{1, items, bottom[0].Count() / max(1, items)}
	if l.dims == dims {
		return nil
	}
	l.dims = dims
	l.factors.Reshape(items)
	l.scaled = make([]float32, items)
	if l.MPE() {
		return nil
	}
	streams := part.StreamsOf(&l.Base)
	l.sum = streams.Make(stream.Pass{
		Name: "TripletLoss", Dims: dims, Ins: part.Arrays(3), Scratch: 1, Sums: 1, Cost: stream.Work{Flops: 6},
		Op: func(t *stream.Tile) {
			for m := range t.M {
				a, p, n := t.In[0][m*t.MStride:][:t.I], t.In[1][m*t.MStride:], t.In[2][m*t.MStride:]
				d := t.Scratch[0][:t.I]
				vec.Sub(d, a, p)
				t.Sum[m] += vec.SumSq(d)
				vec.Sub(d, a, n)
				t.Sum[m] -= vec.SumSq(d)
			}
		},
	})
	l.grad = streams.Make(stream.Pass{
		Name: "TripletLoss gradient", Dims: dims, Ins: part.Arrays(2, stream.Row), Outs: part.Arrays(1), Cost: stream.Work{Flops: 2},
		Op: func(t *stream.Tile) {
			for m := range t.M {
				dx := t.Out[0][m*t.MStride:][:t.I]
				vec.Sub(dx, t.In[0][m*t.MStride:], t.In[1][m*t.MStride:])
				vec.Scale(dx, dx, t.In[2][m])
			}
		},
	})
	return streams.Err
}

func (l *tripletLoss) Forward(bottom, top []*blob.Blob) error {
	for i := range l.ins {
		l.ins[i] = bottom[i].Data()
	}
	if !l.MPE() {
		if err := l.sum.Run(l.ins[:], nil); err != nil {
			return err
		}
	}
	var sum float64
	margin, factors := float64(l.Param.GetTripletLossParam().GetMargin()), l.factors.Data()
	for m := range factors {
		weight := float32(1)
		if len(bottom) > 3 {
			weight = bottom[3].Data()[m]
		}
		factors[m] = 0
		if term := margin + l.distances(m); term > 0 {
			factors[m], sum = weight, sum+float64(weight)*term
		}
	}
	top[0].Data()[0] = float32(sum / float64(2*max(1, l.dims[1])))
	return nil
}

// distances returns |a-p|^2 - |a-n|^2 of an item.
func (l *tripletLoss) distances(m int) (sum float64) {
	if !l.MPE() {
		return l.sum.Sums()[m]
	}
	for i := m * l.dims[2]; i < (m+1)*l.dims[2]; i++ {
		p, n := float64(l.ins[0][i])-float64(l.ins[1][i]), float64(l.ins[0][i])-float64(l.ins[2][i])
		sum += p*p - n*n
	}
	return sum
}

// Traits implements Planned. Forward keeps the factors.
func (l *tripletLoss) Traits() layers.Traits {
	return layers.Traits{Unread: layers.Unread{Bottoms: layers.SomeBottoms(3), Tops: true}, Keeps: []*blob.Blob{l.factors}}
}

func (l *tripletLoss) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if len(bottom) > 3 && propagateDown[3] {
		return fmt.Errorf("the layer has no gradient for weights (bottom 3)")
	}
	vec.Scale(l.scaled, l.factors.Data(), top[0].Diff()[0]/float32(max(1, l.dims[1])))
	for i, minuend := range []int{2, 1, 0} {
		if !propagateDown[i] {
			continue
		}
		u, v, dx := bottom[minuend].Data(), bottom[(minuend+2)%3].Data(), bottom[i].Diff()
		if l.MPE() {
			for k := range dx {
				dx[k] = l.scaled[k/l.dims[2]] * (u[k] - v[k])
			}
			continue
		}
		l.ins, l.outs[0] = [3][]float32{u, v, l.scaled}, dx
		if err := l.grad.Run(l.ins[:], l.outs[:]); err != nil {
			return err
		}
	}
	return nil
}
