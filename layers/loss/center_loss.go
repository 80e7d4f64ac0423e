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
		Name: "CenterLoss", Doc: "squared distances from learned centres of classes / (2 * number of items)",
		Couples: layers.Always(layers.Differs, "divides each centre's step by the number of its class's items, which is that of each worker"),
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &centerLoss{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(2), Tops: layers.Exactly(1), Loss: true, NoForceBackward: []int{1},
	})
}

// centerLoss is the CenterLoss layer of caffe-face (Wen et al. 2016). The weight holds a centre for each class; the loss is the sum over M items
// of |x - centre(label)|^2 / (2M).
//
// The centres' gradient is not the loss's: for a class with n items it is the sum of centre - x over them, divided by n + 1, whatever the loss
// weight (equation 4 of the paper).
type centerLoss struct {
	layers.Base
	lossParam
	classes, axis int
	dims          [3]int     // 1 x items x values of an item
	diff          *blob.Blob // x - centre
	room          *blob.Blob // the centres, or the scaled differences, of the items

	index   []int // labels
	counts  []int // items by class
	factors []float32

	rows        part.RowMover
	sum         squaredError
	scale, step *stream.Kernel
	alpha       float32
	ins         [2][]float32
	outs        [1][]float32
}

func (l *centerLoss) SetUp(bottom, _ []*blob.Blob) (err error) {
	p := l.Param.GetCenterLossParam()
	if l.classes = int(p.GetNumOutput()); l.classes < 1 {
		return fmt.Errorf("num_output must be positive, it is %d", l.classes)
	}
	if l.axis, err = part.AxisOf(bottom[0], int(p.GetAxis())); err != nil {
		return err
	}
	l.lossParam = readLossParam(nil, caffepb.LossParameter_BATCH_SIZE)
	if err := l.AddWeight(p.GetCenterFiller(), l.classes, bottom[0].CountFrom(l.axis)); err != nil {
		return err
	}
	l.diff, l.room, l.counts = l.Device.NewBlob(0), l.Device.NewBlob(0), make([]int, l.classes)
	return nil
}

func (l *centerLoss) Reshape(bottom, top []*blob.Blob) error {
	items, values := bottom[0].CountRange(0, l.axis), bottom[0].CountFrom(l.axis)
	if values != l.Weights[0].Dim(1) {
		return fmt.Errorf("bottom[0] has shape %s, but centres have %d values", bottom[0].ShapeString(), l.Weights[0].Dim(1))
	}
	if err := checkLabels(bottom[0], bottom[1], items); err != nil {
		return err
	}
	top[0].Reshape()
	dims := [3]int{1, items, values}
	if l.dims == dims {
		return nil
	}
	l.dims = dims
	l.diff.Reshape(items, values)
	l.room.Reshape(items, values)
	l.index, l.factors = make([]int, items), make([]float32, items)
	if err := l.rows.Reshape(&l.Base, l.classes, values); err != nil || l.MPE() {
		return err
	}
	if err := l.sum.prepare(&l.Base, "CenterLoss", items*values); err != nil {
		return err
	}
	streams, flat := part.StreamsOf(&l.Base), [3]int{1, 1, items * values}
	l.scale = streams.Make(stream.Pass{
		Name: "CenterLoss gradient", Dims: flat, Ins: part.Arrays(1), Outs: part.Arrays(1), Cost: stream.Work{Flops: 1},
		Op: func(t *stream.Tile) { vec.Scale(t.Out[0][:t.I], t.In[0], l.alpha) },
	})
	l.step = streams.Make(stream.Pass{
		Name: "CenterLoss centre gradient", Dims: dims, Ins: part.Arrays(1, stream.Row), Outs: part.Arrays(1), Cost: stream.Work{Flops: 1},
		Op: func(t *stream.Tile) {
			for m := range t.M {
				vec.Scale(t.Out[0][m*t.MStride:][:t.I], t.In[0][m*t.MStride:], t.In[1][m])
			}
		},
	})
	return streams.Err
}

// readLabels sets the index, the counts and the factors. Where no values are computed, all labels are 0.
func (l *centerLoss) readLabels(labels []float32) error {
	clear(l.counts)
	for m, v := range labels {
		if !l.Device.Machine.Values() {
			v = 0
		}
		label, _, err := l.label(v, m, l.classes)
		if err != nil {
			return err
		}
		l.index[m] = label
		l.counts[label]++
	}
	for m, label := range l.index {
		l.factors[m] = -1 / float32(l.counts[label]+1)
	}
	return nil
}

func (l *centerLoss) Forward(bottom, top []*blob.Blob) error {
	if err := l.readLabels(bottom[1].Data()); err != nil {
		return err
	}
	centres := l.room.Data()
	if err := l.rows.Gather(centres, l.Weights[0].Data(), l.index); err != nil {
		return err
	}
	sum, err := l.sum.of(bottom[0].Data(), centres, l.diff.Data())
	if err != nil {
		return err
	}
	top[0].Data()[0] = float32(sum / float64(2*max(1, l.dims[1])))
	return nil
}

// Traits implements Planned. Forward keeps the differences and the labels.
func (l *centerLoss) Traits() layers.Traits {
	return layers.Traits{Unread: layers.ReadsNothing, Keeps: []*blob.Blob{l.diff}}
}

func (l *centerLoss) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if propagateDown[1] {
		return errLabelGradient
	}
	diff := l.diff.Data()
	if l.ParamGrad(0) {
		if err := l.centreGrad(l.Weights[0].Diff(), diff); err != nil {
			return err
		}
	}
	if !propagateDown[0] {
		return nil
	}
	l.alpha = top[0].Diff()[0] / float32(max(1, l.dims[1]))
	dx := bottom[0].Diff()
	if l.MPE() {
		for i, d := range diff {
			dx[i] = l.alpha * d
		}
		return nil
	}
	l.ins[0], l.outs[0] = diff, dx
	return l.scale.Run(l.ins[:1], l.outs[:])
}

// centreGrad adds each item's part to the gradient of its centre.
func (l *centerLoss) centreGrad(grad, diff []float32) error {
	parts := l.room.Data()
	if l.MPE() {
		for i, d := range diff {
			parts[i] = l.factors[i/l.dims[2]] * d
		}
	} else {
		l.ins, l.outs[0] = [2][]float32{diff, l.factors}, parts
		if err := l.step.Run(l.ins[:], l.outs[:]); err != nil {
			return err
		}
	}
	return l.rows.Add(grad, parts, l.index)
}
