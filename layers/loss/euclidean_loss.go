package loss

import (
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "EuclideanLoss", Doc: "sum of (a - b)^2 / (2 * number of items)",
		Params: []string{},
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &euclideanLoss{Base: layers.Base{Param: p, Device: d}, count: -1}
		},
		Bottoms: layers.Exactly(2), Tops: layers.Exactly(1), Loss: true,
	})
}

// euclideanLoss is Caffe's EuclideanLoss layer; da = weight/N * (a - b), db = -da.
type euclideanLoss struct {
	layers.Base
	count int
	diff  *blob.Blob // a - b

	sum      squaredError
	gradient pairGradient
}

func (l *euclideanLoss) SetUp(_, _ []*blob.Blob) error {
	l.diff = l.Device.NewBlob(0)
	return nil
}

func (l *euclideanLoss) Reshape(bottom, top []*blob.Blob) error {
	if bottom[0].NumAxes() > 4 {
		return fmt.Errorf("at most 4 axes are allowed: bottom[0] has shape %s", bottom[0].ShapeString())
	}
	if err := checkSameItems(bottom); err != nil {
		return err
	}
	if bottom[0].Count() != bottom[1].Count() {
		return fmt.Errorf("inputs must have the same dimension: %s and %s", bottom[0].ShapeString(), bottom[1].ShapeString())
	}
	top[0].Reshape()
	l.diff.ReshapeLike(bottom[0])
	if l.count == bottom[0].Count() || l.MPE() {
		return nil
	}
	l.count = bottom[0].Count()
	return l.prepare()
}

func (l *euclideanLoss) prepare() error {
	if err := l.sum.prepare(&l.Base, "euclidean loss", l.count); err != nil {
		return err
	}
	streams := part.StreamsOf(&l.Base)
	l.gradient.scale = streams.Make(l.gradient.pass("euclidean loss gradient", l.count))
	return streams.Err
}

func (l *euclideanLoss) Forward(bottom, top []*blob.Blob) error {
	sum, err := l.sum.of(bottom[0].Data(), bottom[1].Data(), l.diff.Data())
	if err != nil {
		return err
	}
	top[0].Data()[0] = float32(sum / 2 / float64(max(1, bottom[0].Legacy(0))))
	return nil
}

// Traits implements Planned. Forward keeps a - b.
func (l *euclideanLoss) Traits() layers.Traits {
	return layers.Traits{Unread: layers.ReadsNothing, Keeps: []*blob.Blob{l.diff}}
}

func (l *euclideanLoss) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	return l.gradient.backward(l.MPE(), l.diff.Data(), float32(max(1, bottom[0].Legacy(0))), top[0], propagateDown, bottom)
}
