package data

import (
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "Input", Doc: "tops that the caller fills; zero until then", Prepares: []string{"transform_param"},
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &input{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(0), Tops: layers.AtLeast(1), NoGradient: true,
	})
}

// input is Caffe's Input layer.
type input struct{ layers.Base }

func (l *input) SetUp(_, top []*blob.Blob) error {
	shapes := l.Param.GetInputParam().GetShape()
	if n := len(shapes); n > 1 && n != len(top) {
		return fmt.Errorf("must specify 'shape' once, or once per top blob (%d): it is specified %d times", len(top), n)
	}
	for i, t := range top {
		if len(shapes) > 0 {
			shape, err := part.ShapeOf(shapes[min(i, len(shapes)-1)])
			if err != nil {
				return err
			}
			t.Reshape(shape...)
		}
	}
	return nil
}

func (l *input) Reshape(_, _ []*blob.Blob) error                         { return nil }
func (l *input) Forward(_, _ []*blob.Blob) error                         { return nil }
func (l *input) Backward(_ []*blob.Blob, _ []bool, _ []*blob.Blob) error { return nil }
