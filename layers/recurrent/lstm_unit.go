package recurrent

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
		Name: "LSTMUnit", Doc: "one time step of an LSTM: cell and hidden state from the last cell and the gates' inputs",
		Couples: layers.OverTime,
		Params:  []string{},
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &lstmUnitLayer{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(3), Tops: layers.Exactly(2), NoForceBackward: []int{2},
	})
}

// lstmUnit computes one LSTM step for n sequences of d cells. The gates' inputs are n x 4 x d, in the order i, f, o, g:
//
//	c = cont * sigmoid(f) * c' + sigmoid(i) * tanh(g),  h = sigmoid(o) * tanh(c)
//
// where c' is the cell state before the step.
type lstmUnit struct {
	n, d              int
	forward, backward *stream.Kernel // nil on the MPE path
	ins               [5][]float32
	outs              [3][]float32
}

func newLSTMUnit(b *layers.Base, n, d int) (u lstmUnit, err error) {
	u = lstmUnit{n: n, d: d}
	if b.MPE() {
		return u, nil
	}
	plane, dims, streams := stream.Plane, [3]int{n, 4, d}, part.StreamsOf(b)
	u.forward = streams.Make(stream.Pass{
		Name: "LSTM unit", Dims: dims, WholeMid: true, Ins: part.Arrays(1, plane, plane), Outs: part.Arrays(1, plane, plane),
		Cost: stream.Work{Flops: 2, Specials: 2}, Op: lstmTile,
	})
	u.backward = streams.Make(stream.Pass{
		Name: "LSTM unit gradient", Dims: dims, WholeMid: true, Ins: part.Arrays(1, plane, plane, plane, plane), Outs: part.Arrays(1, plane),
		Scratch: 1, Cost: stream.Work{Flops: 6, Specials: 1}, Op: lstmGradTile,
	})
	return u, streams.Err
}

// lstmTile reads the gates' inputs, c' and cont, and writes the gates, c and h.
func lstmTile(t *stream.Tile) {
	for o := range t.O {
		gate := func(m int) []float32 {
			at := o*t.OStride + m*t.MStride
			y := t.Out[0][at : at+t.I]
			if m == 3 {
				vec.Tanh(y, t.In[0][at:at+t.I])
			} else {
				vec.Sigmoid(y, t.In[0][at:at+t.I])
			}
			return y
		}
		at := o * t.PStride
		last, cont := t.In[1][at:at+t.I], t.In[2][at:at+t.I]
		c, h := t.Out[1][at:at+t.I], t.Out[2][at:at+t.I]
		in, keep, out, g := gate(0), gate(1), gate(2), gate(3)
		vec.Mul(keep, keep, cont)
		for k := range c {
			c[k] = keep[k]*last[k] + in[k]*g[k]
		}
		vec.Tanh(h, c)
		vec.Mul(h, h, out)
	}
}

// lstmGradTile reads the gates, c', c, dc and dh, and writes the gradients of the gates' inputs and of c'.
func lstmGradTile(t *stream.Tile) {
	for o := range t.O {
		gate := func(a []float32, m int) []float32 { return a[o*t.OStride+m*t.MStride:][:t.I] }
		at := o * t.PStride
		x, dx, th := t.In[0], t.Out[0], t.Scratch[0][:t.I]
		in, keep, out, g := gate(x, 0), gate(x, 1), gate(x, 2), gate(x, 3)
		din, dkeep, dout, dg := gate(dx, 0), gate(dx, 1), gate(dx, 2), gate(dx, 3)
		last, dc, dh, dlast := t.In[1][at:], t.In[3][at:], t.In[4][at:], t.Out[1][at:]
		vec.Tanh(th, t.In[2][at:at+t.I])
		for k := range t.I {
			i, f, o, g, up := in[k], keep[k], out[k], g[k], dh[k]
			term := dc[k] + up*o*(1-th[k]*th[k])
			din[k] = term * g * i * (1 - i)
			dkeep[k] = term * last[k] * f * (1 - f)
			dout[k] = up * th[k] * o * (1 - o)
			dg[k] = term * i * (1 - g*g)
			dlast[k] = term * f
		}
	}
}

// step computes the gates, c and h. gates and x may be the same array.
func (u *lstmUnit) step(gates, x, last, cont, c, h []float32) error {
	if u.forward != nil {
		u.ins, u.outs = [5][]float32{x, last, cont}, [3][]float32{gates, c, h}
		return u.forward.Run(u.ins[:3], u.outs[:])
	}
	for k := range c {
		at := k/u.d*4*u.d + k%u.d
		i, o, g := part.Logistic(float64(x[at])), part.Logistic(float64(x[at+2*u.d])), math.Tanh(float64(x[at+3*u.d]))
		f := float64(cont[k]) * part.Logistic(float64(x[at+u.d]))
		v := f*float64(last[k]) + i*g
		gates[at], gates[at+u.d], gates[at+2*u.d], gates[at+3*u.d] = float32(i), float32(f), float32(o), float32(g)
		c[k], h[k] = float32(v), float32(o*math.Tanh(v))
	}
	return nil
}

// stepBack computes the gradients of the gates' inputs and of c' from those of c and h. dlast may be dc.
func (u *lstmUnit) stepBack(dx, dlast, gates, last, c, dc, dh []float32) error {
	if u.backward != nil {
		u.ins, u.outs = [5][]float32{gates, last, c, dc, dh}, [3][]float32{dx, dlast}
		return u.backward.Run(u.ins[:], u.outs[:2])
	}
	for k := range c {
		at := k/u.d*4*u.d + k%u.d
		i, f, o, g := float64(gates[at]), float64(gates[at+u.d]), float64(gates[at+2*u.d]), float64(gates[at+3*u.d])
		th, up := math.Tanh(float64(c[k])), float64(dh[k])
		term := float64(dc[k]) + up*o*(1-th*th)
		dx[at] = float32(term * g * i * (1 - i))
		dx[at+u.d] = float32(term * float64(last[k]) * f * (1 - f))
		dx[at+2*u.d] = float32(up * th * o * (1 - o))
		dx[at+3*u.d] = float32(term * i * (1 - g*g))
		dlast[k] = float32(term * f)
	}
	return nil
}

// lstmUnitLayer is Caffe's LSTMUnit layer. Bottoms are c' (1 x N x D), the gates' inputs (1 x N x 4D) and cont (1 x N); tops are c and h.
type lstmUnitLayer struct {
	layers.Base
	unit   lstmUnit
	spread spread
	gates  []float32
	cont   []float32
}

func (l *lstmUnitLayer) SetUp(_, _ []*blob.Blob) error { return nil }

func (l *lstmUnitLayer) Reshape(bottom, top []*blob.Blob) error {
	for i, b := range bottom {
		if b.NumAxes() < 2 || b.Dim(0) != 1 || b.Dim(1) != bottom[0].Dim(1) {
			return fmt.Errorf("bottoms must be 1 x N x D, 1 x N x 4D and 1 x N: bottom[0] has shape %s, bottom[%d] %s", bottom[0].ShapeString(), i, b.ShapeString())
		}
	}
	n, d := bottom[0].Dim(1), bottom[0].CountFrom(2)
	if bottom[1].CountFrom(2) != 4*d || bottom[2].Count() != n {
		return fmt.Errorf("bottoms must be 1 x %d x %d, 1 x %d x %d and 1 x %d: bottom[1] has shape %s, bottom[2] %s",
			n, d, n, 4*d, n, bottom[1].ShapeString(), bottom[2].ShapeString())
	}
	top[0].ReshapeLike(bottom[0])
	top[1].ReshapeLike(bottom[0])
	if l.unit.n == n && l.unit.d == d {
		return nil
	}
	l.gates, l.cont = pages.Make[float32](4*n*d), pages.Make[float32](n*d)
	var err error
	if l.spread, err = newSpread(&l.Base, n, d); err != nil {
		return err
	}
	l.unit, err = newLSTMUnit(&l.Base, n, d)
	return err
}

func (l *lstmUnitLayer) Forward(bottom, top []*blob.Blob) error {
	if err := l.spread.run(bottom[2].Data(), l.cont); err != nil {
		return err
	}
	return l.unit.step(l.gates, bottom[1].Data(), bottom[0].Data(), l.cont, top[0].Data(), top[1].Data())
}

// Traits implements Planned. Backward reads c' and the tops; Forward keeps the gates and cont.
func (l *lstmUnitLayer) Traits() layers.Traits {
	return layers.Traits{Unread: layers.Unread{Bottoms: layers.SomeBottoms(1, 2)}}
}

func (l *lstmUnitLayer) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if propagateDown[2] {
		return errors.New("the layer cannot backpropagate to sequence indicators (bottom 2)")
	}
	if !propagateDown[0] && !propagateDown[1] {
		return nil
	}
	return l.unit.stepBack(bottom[1].Diff(), bottom[0].Diff(), l.gates, bottom[0].Data(), top[0].Data(), top[0].Diff(), top[1].Diff())
}
