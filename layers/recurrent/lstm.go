package recurrent

import (
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "LSTM", Doc: "long short-term memory over the time steps of axis 0",
		Couples: layers.OverTime,
		Params:  []string{"recurrent_param"},
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			l := &lstm{recurrent: recurrent{Base: layers.Base{Param: p, Device: d}, gates: 4, states: 2}}
			l.cell = l
			return l
		},
		Bottoms: layers.Between(2, 5), Tops: layers.Between(1, 3), NoForceBackward: []int{1}, Effects: continues,
	})
}

// lstm is Caffe's LSTM layer (Hochreiter and Schmidhuber 1997, without peepholes). Its states are h and c, and its top is h. Weights are
// W_xc (4D x K), b_c, W_xc_static if there is a static input, and W_hc (4D x D).
type lstm struct {
	recurrent
	unit lstmUnit
	dc   []float32
}

func (l *lstm) setUp(*caffepb.RecurrentParameter) error { return nil }

func (l *lstm) prepare() (err error) {
	l.dc = pages.Make[float32](l.n * l.d)
	l.unit, err = newLSTMUnit(&l.Base, l.n, l.d)
	return err
}

func (l *lstm) begin() { clear(l.dc) }

func (l *lstm) step(t int) error {
	a, h, c := l.at(l.a, t, 4*l.d), l.hidden[0], l.hidden[1]
	return l.unit.step(a, a, l.at(c, t, l.d), l.at(l.cont, t, l.d), l.at(c, t+1, l.d), l.at(h, t+1, l.d))
}

func (l *lstm) stepBack(t int, dh []float32) error {
	c := l.hidden[1]
	return l.unit.stepBack(l.at(l.da, t, 4*l.d), l.dc, l.at(l.a, t, 4*l.d), l.at(c, t, l.d), l.at(c, t+1, l.d), l.dc, dh)
}

func (l *lstm) output(top *blob.Blob) error {
	copy(top.Data(), l.hidden[0][l.n*l.d:])
	return nil
}

func (l *lstm) outputBack(top *blob.Blob) ([]float32, error) { return top.Diff(), nil }
