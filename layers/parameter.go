package layers

import (
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	Register(Type{
		Name: "Parameter", Doc: "its weight as a top",
		New: func(p *caffepb.LayerParameter, d *Device) Layer {
			return &parameter{Base: Base{Param: p, Device: d}}
		},
		Bottoms: Exactly(0), Tops: Exactly(1), NoGradient: true,
	})
}

// parameter is Caffe's Parameter layer. The top shares the weight's data and diff, so that nothing is left to do.
type parameter struct{ Base }

func (l *parameter) SetUp(_, _ []*blob.Blob) error {
	shape, err := protoShape(l.Param.GetParameterParam().GetShape())
	if err != nil {
		return err
	}
	return l.AddWeight(nil, shape...)
}

func (l *parameter) Reshape(_, top []*blob.Blob) error {
	top[0].ReshapeLike(l.params[0])
	top[0].ShareData(l.params[0])
	top[0].ShareDiff(l.params[0])
	return nil
}

func (l *parameter) Forward(_, top []*blob.Blob) error { return l.Reshape(nil, top) }

func (l *parameter) Backward(_ []*blob.Blob, _ []bool, _ []*blob.Blob) error { return nil }
