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
		Name:   "ImageData",
		Params: []string{"image_data_param", "transform_param"},
		Doc:    "hands out batches of image files named in a list, resized and transformed",
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &imageDataLayer{batchLayer{Base: layers.Base{Param: p, Device: d}}}
		},
		Bottoms: layers.Exactly(0), Tops: layers.Between(1, 2), NoGradient: true, Effects: layers.NextBatch,
	})
}

// imageDataLayer is Caffe's ImageData layer. Top 0 is items x channels x height x width; an optional top 1 holds the labels. All images,
// grey ones too, have 3 channels unless is_color is false.
type imageDataLayer struct{ batchLayer }

// SetUp reads the list and the shape of its first image.
func (l *imageDataLayer) SetUp(_, top []*blob.Blob) error {
	p := l.Param.GetImageDataParam()
	if err := checkFiles("image_data_param", p); err != nil {
		return err
	}
	if p.LabelType != nil || p.IgnoreLabel != nil {
		return errors.New("image_data_param: label_type and ignore_label are for layers of type ImageSegData")
	}
	t, augmenter, err := l.transformer()
	if err != nil {
		return err
	}
	seed := l.Device.Random.Uint64()
	source, err := data.OpenImageList(p.GetSource(), p.GetRootFolder(), p.GetShuffle(), seed)
	if err != nil {
		return err
	}
	decoder := filesDecoder(p, seed)
	decoder.Augmenter = augmenter
	return l.openFiles(top, "image_data_param", p, source, data.Config{Decoder: decoder, Transformer: t, Seed: seed})
}
