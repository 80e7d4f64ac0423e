package loss

import (
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "LabelSpecificAdd", Doc: "scores with a bias added to the label's, if that stays positive; in phase TEST the scores",
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &labelSpecificAdd{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(2), Tops: layers.Exactly(1), InPlace: true, NoForceBackward: []int{1},
	})
}

// labelSpecificAdd is the LabelSpecificAdd layer of forks for AM-Softmax and CosFace (Wang et al. 2018): in training it adds bias, in most nets
// a negative number, to the score of each item's label, unless the sum would not be positive. Scores are items x classes.
type labelSpecificAdd struct {
	layers.Base
	labelled
	bias    float32
	forward *stream.Kernel
	pass    part.Mover
	ins     [2][]float32
	outs    [1][]float32
}

func (l *labelSpecificAdd) SetUp(_, _ []*blob.Blob) error {
	l.bias = l.Param.GetLabelSpecificAddParam().GetBias()
	return nil
}

func (l *labelSpecificAdd) Reshape(bottom, top []*blob.Blob) (err error) {
	items := bottom[0].Legacy(0)
	if err := checkLabels(bottom[0], bottom[1], items); err != nil {
		return err
	}
	if top[0] != bottom[0] {
		top[0].ReshapeLike(bottom[0])
	}
	dims := [3]int{items, bottom[0].Count() / max(1, items), 1}
	if l.dims == dims {
		return nil
	}
	l.dims = dims
	if l.pass, err = part.NewMover(&l.Base, dims[0], dims[1]); err != nil || l.MPE() {
		return err
	}
	l.forward, err = stream.New(l.Device.Machine, stream.Pass{
		Name: "LabelSpecificAdd", Dims: dims, WholeMid: true, Ins: part.Arrays(1, stream.Plane), Outs: part.Arrays(1), Cost: stream.Work{Flops: 1}, Op: l.tile,
	})
	return err
}

func (l *labelSpecificAdd) tile(t *stream.Tile) {
	x, y := t.In[0], t.Out[0]
	l.eachInTile(t, func(at, label int, _ bool) {
		for m := range t.M {
			y[at+m*t.MStride] = x[at+m*t.MStride]
		}
		l.add(&y[at+label*t.MStride])
	})
}

func (l *labelSpecificAdd) add(score *float32) {
	if *score > -l.bias {
		*score += l.bias
	}
}

func (l *labelSpecificAdd) Forward(bottom, top []*blob.Blob) error {
	x, labels, y := bottom[0].Data(), bottom[1].Data(), top[0].Data()
	switch {
	case !l.Train() && top[0] == bottom[0]:
		return nil
	case !l.Train():
		return l.pass.Run(y, x)
	case l.forward != nil:
		l.ins, l.outs[0] = [2][]float32{x, labels}, y
		return l.forward.Run(l.ins[:], l.outs[:])
	}
	copy(y, x)
	return l.each(labels, func(n, label int) { l.add(&y[l.at(n, label)]) })
}

// Traits implements Planned. The gradient passes unchanged.
func (l *labelSpecificAdd) Traits() layers.Traits {
	return layers.Traits{Unread: layers.ReadsNothing}
}

func (l *labelSpecificAdd) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if propagateDown[1] {
		return errLabelGradient
	}
	if !propagateDown[0] || top[0] == bottom[0] {
		return nil
	}
	return l.pass.Run(bottom[0].Diff(), top[0].Diff())
}
