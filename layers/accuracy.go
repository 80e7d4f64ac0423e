package layers

import (
	"errors"
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	Register(Type{
		Name: "Accuracy", Doc: "the share of items whose label is among the top_k scores; a second top has it by class",
		New: func(p *caffepb.LayerParameter, d *Device) Layer {
			return &accuracy{Base: Base{Param: p, Device: d}}
		},
		Bottoms: Exactly(2), Tops: Between(1, 2), NoGradient: true,
	})
}

// accuracy is Caffe's Accuracy layer. A score equal to the label's counts as better than it, so that ties count against.
type accuracy struct {
	Base
	topK   int
	loss   lossParam // the label to ignore
	dims   [3]int
	stream *kernel.StreamKernel
	ins    [2][]float32
	sums   []float64 // correct by class, then items by class
}

func (l *accuracy) SetUp(_, _ []*blob.Blob) error {
	p := l.Param.GetAccuracyParam()
	l.topK = int(p.GetTopK())
	if p != nil && p.IgnoreLabel != nil {
		l.loss = lossParam{ignore: int(p.GetIgnoreLabel()), hasIgnore: true}
	}
	return nil
}

func (l *accuracy) Reshape(bottom, top []*blob.Blob) error {
	axis := int(l.Param.GetAccuracyParam().GetAxis())
	dims, err := splitAxis(bottom[0], axis)
	if err != nil {
		return err
	}
	if l.topK > bottom[0].Count()/max(1, bottom[1].Count()) {
		return fmt.Errorf("top_k %d must be less than or equal to the number of classes %d", l.topK, dims[1])
	}
	if n := dims[0] * dims[2]; n != bottom[1].Count() {
		return fmt.Errorf("number of labels must match number of predictions: %s scores along axis %d need %d labels, there are %d (%s)",
			bottom[0].ShapeString(), axis, n, bottom[1].Count(), bottom[1].ShapeString())
	}
	top[0].Reshape()
	if len(top) > 1 {
		top[1].Reshape(dims[1])
	}
	if l.dims == dims {
		return nil
	}
	l.dims, l.sums = dims, make([]float64, 2*dims[1])
	if l.mpe() {
		return nil
	}
	l.stream, err = kernel.NewStream(l.Device.Machine, kernel.Stream{
		Name: "accuracy", Dims: dims, WholeMid: true, Ins: []kernel.Array{kernel.Full, kernel.Plane}, Sums: 2,
		Cost: kernel.Work{Flops: 1}, Op: l.tile,
	})
	return err
}

func (l *accuracy) tile(t *kernel.Tile) {
	for o := range t.O {
		for i := range t.I {
			err := l.judge(t.In[0][o*t.OStride+i:], t.MStride, t.In[1][o*t.PStride+i], (t.O0+o)*l.dims[2]+t.I0+i, t.Sum)
			if err != nil {
				t.Err = err
				return
			}
		}
	}
}

// judge counts one item in sums: correct by class, then items by class.
func (l *accuracy) judge(scores []float32, stride int, value float32, item int, sums []float64) error {
	label, ok, err := l.loss.label(value, item, l.dims[1])
	if err != nil || !ok {
		return err
	}
	own, better := scores[label*stride], -1
	for c := range l.dims[1] {
		if scores[c*stride] >= own {
			better++
		}
	}
	sums[l.dims[1]+label]++
	if better < l.topK {
		sums[label]++
	}
	return nil
}

func (l *accuracy) Forward(bottom, top []*blob.Blob) error {
	scores, labels, sums := bottom[0].Data(), bottom[1].Data(), l.sums
	if l.mpe() {
		clear(sums)
		for n, v := range labels {
			at := n/l.dims[2]*l.dims[1]*l.dims[2] + n%l.dims[2]
			if err := l.judge(scores[at:], l.dims[2], v, n, sums); err != nil {
				return err
			}
		}
	} else {
		l.ins = [2][]float32{scores, labels}
		if err := l.stream.Run(l.ins[:], nil); err != nil {
			return err
		}
		sums = l.stream.Sums()
	}
	l.report(top, sums)
	return nil
}

// report writes the shares; a class without items has 0.
func (l *accuracy) report(top []*blob.Blob, sums []float64) {
	var correct, items float64
	for c := range l.dims[1] {
		correct += sums[c]
		items += sums[l.dims[1]+c]
		if len(top) > 1 {
			top[1].Data()[c] = float32(sums[c] / max(1, sums[l.dims[1]+c]))
		}
	}
	top[0].Data()[0] = float32(correct / max(1, items))
}

func (l *accuracy) Backward([]*blob.Blob, []bool, []*blob.Blob) error {
	return errors.New("accuracy has no gradient")
}
