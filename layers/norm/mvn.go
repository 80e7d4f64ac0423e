package norm

import (
	"math"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "MVN", Doc: "y = (x - mean) / (std + eps) by item and channel, or by item with across_channels",
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &mvn{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(1), Tops: layers.Exactly(1), InPlace: true,
	})
}

// mvn is Caffe's MVN layer. As in Caffe, eps is added to the standard deviation, not to the variance. It may run in place in both
// directions. Caffe's layer may do so in Forward only, because its Backward reads gradients that it has overwritten.
type mvn struct {
	layers.Base
	normaliser normaliser
}

func (l *mvn) SetUp(_, _ []*blob.Blob) error { return nil }

func (l *mvn) Reshape(bottom, top []*blob.Blob) error {
	if top[0] != bottom[0] {
		top[0].ReshapeLike(bottom[0])
	}
	rows := bottom[0].Legacy(0)
	if !l.Param.GetMvnParam().GetAcrossChannels() {
		rows *= channels(bottom[0])
	}
	return l.normaliser.reshape(&l.Base, [3]int{1, rows, bottom[0].Count() / max(1, rows)}, 1)
}

func (l *mvn) Forward(bottom, top []*blob.Blob) error {
	n, p := &l.normaliser, l.Param.GetMvnParam()
	x := bottom[0].Data()
	variances, err := n.statistics(x)
	if err != nil {
		return err
	}
	for m, v := range variances {
		n.scale[m] = 1
		if p.GetNormalizeVariance() {
			n.scale[m] = float32(1 / (math.Sqrt(v) + float64(p.GetEps())))
		}
	}
	return n.apply(x, top[0].Data(), nil)
}

// Traits implements Planned. The gradient is a function of the top.
func (l *mvn) Traits() layers.Traits {
	return layers.Traits{Unread: layers.Unread{Bottoms: layers.AllBottoms}}
}

// Backward omits eps from the derivative of the standard deviation, as Caffe does.
func (l *mvn) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if !propagateDown[0] {
		return nil
	}
	variance := l.Param.GetMvnParam().GetNormalizeVariance()
	return l.normaliser.gradient(top[0].Diff(), top[0].Data(), bottom[0].Diff(), variance)
}
