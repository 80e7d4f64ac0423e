package recurrent

import (
	"errors"
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "Lstm", Doc: "SWCaffe's long short-term memory: steps of batch_size sequences one after the other on axis 0",
		Couples: layers.OverTime,
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			l := &packedLSTM{lstm: lstm{recurrent: recurrent{Base: layers.Base{Param: p, Device: d}, gates: 4, states: 2}}}
			l.cell = l
			return l
		},
		Bottoms: layers.Between(1, 2), Tops: layers.Exactly(1), NoForceBackward: []int{1}, Effects: continues,
	})
}

// packedLSTM is the layer that SWCaffe added for its lstm_param (field 201): the LSTM of J. Oh's caffe-lstm. Bottom 0 is (T*N) x ... with N
// = batch_size; row t*N+n is step t of sequence n. The optional bottom 1 has one value per row, 0 at the start of a sequence. The top is
// (T*N) x num_output. Weights are W_x (4D x K), W_h (4D x D) and b (4D), with gates in the order i, f, o, g.
//
// In forks for text (CTPN and others) bottom 0 is T x N x K and the top T x N x num_output. So it is here if bottom 0 has three axes and batch_size is
// not set.
//
// It computes the same as Caffe's LSTM layer. With bottom 1, the state continues from the last Forward if the first values of bottom 1 are
// not 0. Without it, every Forward starts from state 0. A positive clipping_threshold bounds the gradients of the gates' inputs.
//
// SWCaffe's code has three faults that this layer does not reproduce: every sequence gets the recurrent product of the first, bottom 1 is
// read as if N were 1, and the clipping is commented out.
type packedLSTM struct {
	lstm
	x, cont, out blob.Blob // bottoms and top in the shapes of the LSTM layer
	inner        [2]*blob.Blob
	threshold    float32
	clip         clipOp
	sequences    bool // axis 1 of bottom 0 counts sequences
}

func (l *packedLSTM) SetUp(bottom, _ []*blob.Blob) error {
	p := l.Param.GetLstmParam()
	l.d, l.n, l.threshold = int(p.GetNumOutput()), int(p.GetBatchSize()), p.GetClippingThreshold()
	l.inner = [2]*blob.Blob{&l.x, &l.cont}
	switch {
	case l.d < 1 || l.n < 1:
		return fmt.Errorf("lstm_param: num_output and batch_size must be positive, they are %d and %d", l.d, l.n)
	case bottom[0].NumAxes() < 1:
		return errors.New("bottom[0] must have at least 1 axis: steps x sequences")
	}
	if l.k = bottom[0].CountFrom(1); p.BatchSize == nil && bottom[0].NumAxes() == 3 {
		l.sequences, l.k = true, bottom[0].Dim(2)
	}
	if l.sequences && l.Device.Log != nil {
		l.Device.Log.Infof("layer %q: bottom[0] has three axes (%s), and lstm_param no batch_size: they are steps, sequences and values", l.Param.GetName(), bottom[0].ShapeString())
	}
	for _, w := range []struct {
		filler *caffepb.FillerParameter
		shape  []int
	}{{p.GetWeightFiller(), []int{4 * l.d, l.k}}, {p.GetWeightFiller(), []int{4 * l.d, l.d}}, {p.GetBiasFiller(), []int{4 * l.d}}} {
		if err := l.AddWeight(w.filler, w.shape...); err != nil {
			return err
		}
	}
	// recurrent stores the bias between the two matrices; Params lists it last.
	l.Weights[1], l.Weights[2] = l.Weights[2], l.Weights[1]
	return nil
}

// Params returns W_x, W_h and b.
func (l *packedLSTM) Params() []*blob.Blob {
	return []*blob.Blob{l.Weights[0], l.Weights[2], l.Weights[1]}
}

// SetParamGrad takes an index in the order of Params.
func (l *packedLSTM) SetParamGrad(i int, need bool) { l.Base.SetParamGrad([3]int{0, 2, 1}[i], need) }

func (l *packedLSTM) Reshape(bottom, top []*blob.Blob) error {
	rows, axis := bottom[0].Dim(0), 1
	n := l.n
	if l.sequences && bottom[0].NumAxes() == 3 {
		axis, n = 2, bottom[0].Dim(1)
		rows *= n
	}
	switch {
	case rows == 0 || rows%n != 0:
		return fmt.Errorf("bottom[0] has %d rows, no multiple of batch_size %d", rows, n)
	case bottom[0].CountFrom(axis) != l.k:
		return fmt.Errorf("bottom[0] has shape %s, the layer was set up for %d values a row", bottom[0].ShapeString(), l.k)
	case len(bottom) > 1 && bottom[1].Count() != rows:
		return fmt.Errorf("bottom[1] needs one value per row of bottom[0] (%d), has shape %s", rows, bottom[1].ShapeString())
	}
	t := rows / n
	if top[0].Reshape(rows, l.d); l.sequences {
		top[0].Reshape(t, n, l.d)
	}
	for _, b := range []struct {
		to, from *blob.Blob
		width    int
	}{{&l.x, bottom[0], l.k}, {&l.out, top[0], l.d}} {
		b.to.Reshape(t, n, b.width)
		b.to.ShareData(b.from)
		b.to.ShareDiff(b.from)
	}
	l.cont.Reshape(t, n)
	if l.t == t && l.n == n {
		return nil
	}
	var last [][]float32
	if l.n == n { // states belong to sequences
		last = l.State()
	}
	l.t, l.n = t, n
	if err := l.recurrent.prepare(); err != nil {
		return err
	}
	for i, s := range last {
		copy(l.at(l.hidden[i], t, l.d), s)
	}
	return nil
}

func (l *packedLSTM) prepare() (err error) {
	if err := l.lstm.prepare(); err != nil {
		return err
	}
	if l.threshold > 0 {
		l.clip, err = newClipOp(&l.Base, l.n*4*l.d, l.threshold)
	}
	return err
}

func (l *packedLSTM) stepBack(t int, dh []float32) error {
	if err := l.lstm.stepBack(t, dh); err != nil || l.threshold <= 0 {
		return err
	}
	return l.clip.run(l.at(l.da, t, 4*l.d))
}

func (l *packedLSTM) Forward(bottom, _ []*blob.Blob) error {
	cont := l.cont.Data()
	for i := range cont {
		cont[i] = 0
		if len(bottom) > 1 && bottom[1].Data()[i] != 0 || len(bottom) == 1 && i >= l.n {
			cont[i] = 1
		}
	}
	return l.lstm.Forward(l.inner[:], []*blob.Blob{&l.out})
}

func (l *packedLSTM) Backward(_ []*blob.Blob, propagateDown []bool, _ []*blob.Blob) error {
	down := [2]bool{propagateDown[0], len(propagateDown) > 1 && propagateDown[1]}
	return l.lstm.Backward([]*blob.Blob{&l.out}, down[:], l.inner[:])
}

// clipOp limits values to -threshold..threshold.
type clipOp struct {
	threshold float32
	pass      *stream.Kernel
	values    [1][]float32
}

func newClipOp(b *layers.Base, n int, threshold float32) (s clipOp, err error) {
	s.threshold = threshold
	if b.MPE() {
		return s, nil
	}
	s.pass, err = stream.New(b.Device.Machine, stream.Pass{
		Name: "clip gradient", Dims: [3]int{1, 1, n}, Ins: part.Arrays(1), Outs: part.Arrays(1),
		InPlace: 1, Cost: stream.Work{Flops: 2},
		Op: func(t *stream.Tile) {
			for i, v := range t.Out[0][:t.I] {
				t.Out[0][i] = min(max(v, -threshold), threshold)
			}
		},
	})
	return s, err
}

func (s *clipOp) run(x []float32) error {
	if s.pass != nil {
		s.values[0] = x
		return s.pass.Run(s.values[:], s.values[:])
	}
	for i, v := range x {
		x[i] = min(max(v, -s.threshold), s.threshold)
	}
	return nil
}
