package layers

import (
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	Register(Type{
		Name: "Input", Doc: "tops that the caller fills; zero until then",
		New: func(p *caffepb.LayerParameter, d *Device) Layer {
			return &input{Base: Base{Param: p, Device: d}}
		},
		Bottoms: Exactly(0), Tops: AtLeast(1), NoGradient: true,
	})
}

// input is Caffe's Input layer.
type input struct{ Base }

func (l *input) SetUp(_, top []*blob.Blob) error {
	shapes := l.Param.GetInputParam().GetShape()
	if n := len(shapes); n > 1 && n != len(top) {
		return fmt.Errorf("must specify 'shape' once, or once per top blob (%d): it is specified %d times", len(top), n)
	}
	for i, t := range top {
		if len(shapes) > 0 {
			shape, err := protoShape(shapes[min(i, len(shapes)-1)])
			if err != nil {
				return err
			}
			t.Reshape(shape...)
		}
	}
	return nil
}

// protoShape checks a shape that the user wrote.
func protoShape(p *caffepb.BlobShape) ([]int, error) {
	var shape []int
	for i, d := range p.GetDim() {
		if d < 0 || d > blob.MaxCount {
			return nil, fmt.Errorf("dim %d of the shape is %d; it must be 0 to %d", i, d, blob.MaxCount)
		}
		shape = append(shape, int(d))
	}
	return shape, nil
}

func (l *input) Reshape(_, _ []*blob.Blob) error                         { return nil }
func (l *input) Forward(_, _ []*blob.Blob) error                         { return nil }
func (l *input) Backward(_ []*blob.Blob, _ []bool, _ []*blob.Blob) error { return nil }
