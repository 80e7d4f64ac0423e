package recurrent

import (
	"math"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/gemm"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "RNN", Doc: "simple recurrent net over the time steps of axis 0: h = tanh(W_xh x + W_hh h' + b), o = tanh(W_ho h + b_o)",
		Couples: layers.OverTime,
		Params:  []string{"recurrent_param"},
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			l := &rnn{recurrent: recurrent{Base: layers.Base{Param: p, Device: d}, gates: 1, states: 1, readsTop: true}}
			l.cell = l
			return l
		},
		Bottoms: layers.Between(2, 4), Tops: layers.Between(1, 2), NoForceBackward: []int{1}, Effects: continues,
	})
}

// rnn is Caffe's RNN layer. Its state is h and its top o. Weights are W_xh (D x K), b_h, W_xh_static if there is a static input, W_hh, W_ho
// (D x D) and b_o.
type rnn struct {
	recurrent
	stepTanh, allTanh tanhOp
	out, outGrad, dwo matmul
	outBias           part.BiasGrad
	do, dall          []float32 // T x N x D: gradients of o before tanh, and of h due to o
}

func (l *rnn) setUp(p *caffepb.RecurrentParameter) error {
	if err := l.AddWeight(p.GetWeightFiller(), l.d, l.d); err != nil {
		return err
	}
	return l.AddWeight(p.GetBiasFiller(), l.d)
}

func (l *rnn) prepare() (err error) {
	all := l.t * l.n
	l.do, l.dall = pages.Make[float32](all*l.d), pages.Make[float32](all*l.d)
	if l.out, err = newMatmul(&l.Base, gemm.Shape{M: all, N: l.d, K: l.d, TransB: true}); err != nil {
		return err
	}
	if l.outGrad, err = newMatmul(&l.Base, gemm.Shape{M: all, N: l.d, K: l.d}); err != nil {
		return err
	}
	if l.dwo, err = newMatmul(&l.Base, gemm.Shape{M: l.d, N: l.d, K: all, TransA: true, Accumulate: true}); err != nil {
		return err
	}
	if l.outBias, err = part.NewBiasGrad(&l.Base, [3]int{all, l.d, 1}, false); err != nil {
		return err
	}
	if l.stepTanh, err = newTanhOp(&l.Base, l.n*l.d); err != nil {
		return err
	}
	l.allTanh, err = newTanhOp(&l.Base, all*l.d)
	return err
}

func (l *rnn) begin() {}

func (l *rnn) step(t int) error {
	return l.stepTanh.run(l.at(l.a, t, l.d), l.at(l.hidden[0], t+1, l.d))
}

func (l *rnn) stepBack(t int, dh []float32) error {
	return l.stepTanh.back(l.at(l.hidden[0], t+1, l.d), dh, l.at(l.da, t, l.d))
}

func (l *rnn) output(top *blob.Blob) error {
	w, y := l.hiddenWeight()+1, top.Data()
	if err := l.out.run(l.hidden[0][l.n*l.d:], l.Weights[w].Data(), l.Weights[w+1].Data(), y); err != nil {
		return err
	}
	return l.allTanh.run(y, y)
}

func (l *rnn) outputBack(top *blob.Blob) ([]float32, error) {
	w := l.hiddenWeight() + 1
	if err := l.allTanh.back(top.Data(), top.Diff(), l.do); err != nil {
		return nil, err
	}
	if l.ParamGrad(w) {
		if err := l.dwo.addTo(l.Weights[w], l.do, l.hidden[0][l.n*l.d:]); err != nil {
			return nil, err
		}
	}
	if l.ParamGrad(w + 1) {
		if err := l.outBias.Run(l.Weights[w+1].Diff(), l.do); err != nil {
			return nil, err
		}
	}
	return l.dall, l.outGrad.run(l.do, l.Weights[w].Data(), nil, l.dall)
}

// tanhOp computes y = tanh(x) and dx = dy * (1 - y^2) on either path.
type tanhOp struct {
	forward, backward *stream.Kernel
	ins               [2][]float32
	outs              [1][]float32
}

func newTanhOp(b *layers.Base, n int) (s tanhOp, err error) {
	if b.MPE() {
		return s, nil
	}
	dims, streams := [3]int{1, 1, n}, part.StreamsOf(b)
	s.forward = streams.Make(stream.Pass{
		Name: "tanh", Dims: dims, Ins: part.Arrays(1), Outs: part.Arrays(1), Cost: stream.Work{Specials: 2},
		Op: func(t *stream.Tile) { vec.Tanh(t.Out[0][:t.I], t.In[0][:t.I]) },
	})
	s.backward = streams.Make(stream.Pass{
		Name: "tanh gradient", Dims: dims, Ins: part.Arrays(2), Outs: part.Arrays(1), Cost: stream.Work{Flops: 3},
		Op: func(t *stream.Tile) {
			for i, y := range t.In[0][:t.I] {
				t.Out[0][i] = t.In[1][i] * (1 - y*y)
			}
		},
	})
	return s, streams.Err
}

func (s *tanhOp) run(x, y []float32) error {
	if s.forward != nil {
		s.ins[0], s.outs[0] = x, y
		return s.forward.Run(s.ins[:1], s.outs[:])
	}
	for i, v := range x {
		y[i] = float32(math.Tanh(float64(v)))
	}
	return nil
}

func (s *tanhOp) back(y, dy, dx []float32) error {
	if s.backward != nil {
		s.ins, s.outs[0] = [2][]float32{y, dy}, dx
		return s.backward.Run(s.ins[:], s.outs[:])
	}
	for i, v := range y {
		dx[i] = float32(float64(dy[i]) * (1 - float64(v)*float64(v)))
	}
	return nil
}
