package utility

import (
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "Parameter", Doc: "the top is a learned weight",
		Couples: layers.Always(layers.NoItems, ""),
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &parameter{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(0), Tops: layers.Exactly(1), NoGradient: true,
	})
}

// parameter is Caffe's Parameter layer. The top shares the weight's data and diff, so that passes have nothing to do.
type parameter struct{ layers.Base }

func (l *parameter) SetUp(_, _ []*blob.Blob) error {
	shape, err := part.ShapeOf(l.Param.GetParameterParam().GetShape())
	if err != nil {
		return err
	}
	return l.AddWeight(nil, shape...)
}

func (l *parameter) Reshape(_, top []*blob.Blob) error {
	top[0].ReshapeLike(l.Weights[0])
	top[0].ShareData(l.Weights[0])
	top[0].ShareDiff(l.Weights[0])
	return nil
}

func (l *parameter) Forward(_, top []*blob.Blob) error { return l.Reshape(nil, top) }

func (l *parameter) Backward(_ []*blob.Blob, _ []bool, _ []*blob.Blob) error { return nil }
