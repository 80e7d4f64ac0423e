package data

import (
	"errors"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/data"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name:   "WindowData",
		Params: []string{"window_data_param", "transform_param"},
		Doc:    "hands out batches of windows of images, drawn from foreground and background and warped to one size",
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &windowDataLayer{batchLayer: batchLayer{Base: layers.Base{Param: p, Device: d}}}
		},
		Bottoms: layers.Exactly(0), Tops: layers.Exactly(2), NoGradient: true, Effects: layers.NextBatch,
	})
}

// windowDataLayer is Caffe's WindowData layer. Top 0 is items x 3 x crop_size x crop_size, top 1 the labels. As in Caffe only
// window_data_param's scale is used. The upgrade of an old net moves the scale to transform_param, where it has no effect.
type windowDataLayer struct {
	batchLayer
	windows int
}

// Items implements Finite.
func (l *windowDataLayer) Items(uint64) (uint64, error) { return uint64(l.windows), nil }

// SetUp reads the window file and its first window.
func (l *windowDataLayer) SetUp(_, top []*blob.Blob) error {
	p := l.Param.GetWindowDataParam()
	if p.GetBatchSize() == 0 {
		return errors.New("window_data_param: batch_size must be positive, it is 0")
	}
	t, err := data.NewTransformer(l.Param.GetTransformParam(), l.Param.GetPhase())
	if err != nil {
		return err
	}
	decoder, err := data.NewWindowDecoder(p, t)
	if err != nil {
		return err
	}
	seed := l.Device.Random.Uint64()
	source, err := data.OpenWindowList(p, l.Param.GetTransformParam().GetMirror(), seed)
	if err != nil {
		return err
	}
	l.windows = source.Windows()
	// The decoder has applied transform_param already.
	plain, err := data.NewTransformer(nil, l.Param.GetPhase())
	if err != nil {
		return err
	}
	return l.open(top, data.Config{
		Source: source, Decoder: decoder, Transformer: plain, BatchSize: int(p.GetBatchSize()), Ahead: imagesAhead, Seed: seed,
	})
}
