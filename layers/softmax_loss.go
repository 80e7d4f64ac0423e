package layers

import (
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel"
	"github.com/swcaffe/swcaffe/internal/simd"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	Register(Type{
		Name: "SoftmaxWithLoss", Doc: "mean of -log softmax(x)[label]; a second top gets the probabilities",
		New: func(p *caffepb.LayerParameter, d *Device) Layer {
			return &softmaxLoss{Base: Base{Param: p, Device: d}}
		},
		Bottoms: Exactly(2), Tops: Between(1, 2), Loss: true, NoForceBackward: []int{1},
	})
}

// softmaxLoss is Caffe's SoftmaxWithLoss layer: scores outer x classes x inner, labels outer x inner. Probabilities below
// the smallest normal float32 count as that, so that a loss is at most 87.3365.
type softmaxLoss struct {
	Base
	loss  lossParam
	dims  [3]int
	op    softmaxOp
	prob  *blob.Blob
	valid int

	sum   *kernel.StreamKernel
	grad  *kernel.StreamKernel
	scale float32
	ins   [2][]float32
	outs  [1][]float32
}

func (l *softmaxLoss) SetUp(_, _ []*blob.Blob) error {
	l.loss = readLossParam(l.Param.LossParam, caffepb.LossParameter_VALID)
	l.prob = blob.New(0)
	return nil
}

func (l *softmaxLoss) Reshape(bottom, top []*blob.Blob) error {
	if err := checkSameItems(bottom); err != nil {
		return err
	}
	dims, err := splitAxis(bottom[0], int(l.Param.GetSoftmaxParam().GetAxis()))
	if err != nil {
		return err
	}
	if n := dims[0] * dims[2]; n != bottom[1].Count() {
		return fmt.Errorf("number of labels must match number of predictions: %s scores along axis %d need %d labels, there are %d (%s)",
			bottom[0].ShapeString(), l.Param.GetSoftmaxParam().GetAxis(), n, bottom[1].Count(), bottom[1].ShapeString())
	}
	top[0].Reshape()
	l.prob.ReshapeLike(bottom[0])
	if len(top) > 1 {
		top[1].ReshapeLike(bottom[0])
		top[1].ShareData(l.prob)
	}
	if err := l.op.reshape(&l.Base, dims); err != nil || l.dims == dims {
		return err
	}
	l.dims = dims
	if l.mpe() {
		return nil
	}
	return l.prepare()
}

func (l *softmaxLoss) prepare() (err error) {
	ins := []kernel.Array{kernel.Full, kernel.Plane}
	l.sum, err = kernel.NewStream(l.Device.Machine, kernel.Stream{
		Name: "softmax loss", Dims: l.dims, WholeMid: true, Ins: ins, Sums: 2, Cost: kernel.Work{Flops: 1}, Op: l.sumTile,
	})
	if err != nil {
		return err
	}
	l.grad, err = kernel.NewStream(l.Device.Machine, kernel.Stream{
		Name: "softmax loss gradient", Dims: l.dims, WholeMid: true, Ins: ins, Outs: []kernel.Array{kernel.Full},
		Cost: kernel.Work{Flops: 2}, Op: l.gradTile,
	})
	return err
}

// sumTile adds up losses (sum 0) and counts those that are not ignored (sum 1), both at mid 0.
func (l *softmaxLoss) sumTile(t *kernel.Tile) {
	for o := range t.O {
		for i := range t.I {
			label, ok, err := l.loss.label(t.In[1][o*t.PStride+i], (t.O0+o)*l.dims[2]+t.I0+i, l.dims[1])
			if err != nil {
				t.Err = err
				return
			}
			if ok {
				t.Sum[0] -= logProb(t.In[0][o*t.OStride+label*t.MStride+i])
				t.Sum[t.M]++
			}
		}
	}
}

const smallestNormal = 1.17549435e-38

func logProb(p float32) float64 { return math.Log(max(float64(p), smallestNormal)) }

// gradTile: dx = scale * (prob - [mid is the label]), 0 where the label is ignored.
func (l *softmaxLoss) gradTile(t *kernel.Tile) {
	for o := range t.O {
		for m := range t.M {
			at := o*t.OStride + m*t.MStride
			simd.Scale(t.Out[0][at:at+t.I], t.In[0][at:], l.scale)
		}
		for i := range t.I {
			at := o*t.OStride + i
			label, ok, _ := l.loss.label(t.In[1][o*t.PStride+i], 0, l.dims[1])
			if ok {
				t.Out[0][at+label*t.MStride] -= l.scale
				continue
			}
			for m := range t.M {
				t.Out[0][at+m*t.MStride] = 0
			}
		}
	}
}

func (l *softmaxLoss) Forward(bottom, top []*blob.Blob) error {
	prob, labels := l.prob.Data(), bottom[1].Data()
	if err := l.op.forward(bottom[0].Data(), prob); err != nil {
		return err
	}
	var sum float64
	l.valid = 0
	if l.mpe() {
		for n, v := range labels {
			label, ok, err := l.loss.label(v, n, l.dims[1])
			if err != nil {
				return err
			}
			if ok {
				sum -= logProb(prob[l.at(n, label)])
				l.valid++
			}
		}
	} else {
		l.ins = [2][]float32{prob, labels}
		if err := l.sum.Run(l.ins[:], nil); err != nil {
			return err
		}
		sum, l.valid = l.sum.Sums()[0], int(l.sum.Sums()[l.dims[1]])
	}
	top[0].Data()[0] = float32(sum / l.loss.normaliser(l.dims[0], l.dims[2], l.valid))
	return nil
}

// at is where item n (counted through outer and inner) has its value for a class.
func (l *softmaxLoss) at(n, class int) int {
	return (n/l.dims[2]*l.dims[1]+class)*l.dims[2] + n%l.dims[2]
}

func (l *softmaxLoss) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if propagateDown[1] {
		return errLabelGradient
	}
	if !propagateDown[0] {
		return nil
	}
	prob, labels, dx := l.prob.Data(), bottom[1].Data(), bottom[0].Diff()
	scale := float64(top[0].Diff()[0]) / l.loss.normaliser(l.dims[0], l.dims[2], l.valid)
	if !l.mpe() {
		l.scale = float32(scale)
		l.ins, l.outs[0] = [2][]float32{prob, labels}, dx
		return l.grad.Run(l.ins[:], l.outs[:])
	}
	for n, v := range labels {
		label, ok, _ := l.loss.label(v, n, l.dims[1])
		for c := range l.dims[1] {
			g := 0.0
			if ok {
				g = float64(prob[l.at(n, c)])
			}
			if ok && c == label {
				g--
			}
			dx[l.at(n, c)] = float32(scale * g)
		}
	}
	return nil
}
