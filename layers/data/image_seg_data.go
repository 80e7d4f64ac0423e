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
		Name:   "ImageSegData",
		Params: []string{"image_data_param", "transform_param"},
		Doc:    "hands out batches of image files, of their pixels' labels, and of the images' sizes; crops may be larger than images",
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &imageSegData{labelledImages{batchLayer: batchLayer{Base: layers.Base{Param: p, Device: d}}}}
		},
		Bottoms: layers.Exactly(0), Tops: layers.Between(2, 3), NoGradient: true, Effects: layers.NextBatch,
	})
}

// imageSegData is DeepLab's ImageSegData layer. Top 0 is items x channels x height x width, top 1 items x 1 x height x width: the grey values of
// the images of labels, or ignore_label everywhere with label_type NONE. The optional top 2, items x 1 x 1 x 2, has height and width of each
// image, at most those of top 0. Where an image is smaller than the crop, it is filled up below and on the right with the mean, and its labels
// with ignore_label.
type imageSegData struct{ labelledImages }

// SetUp reads the list and the shape of its first image.
func (l *imageSegData) SetUp(_, top []*blob.Blob) error {
	p := l.Param.GetImageDataParam()
	if err := checkFiles("image_data_param", p); err != nil {
		return err
	}
	switch {
	case p.LabelType == nil:
		return errors.New("image_data_param: label_type must be set: PIXEL or NONE")
	case p.GetLabelType() == caffepb.ImageDataParameter_IMAGE:
		return errors.New("image_data_param: label_type IMAGE, one class for all pixels of an image, is left out")
	case l.Param.GetTransformParam().GetMeanFile() != "":
		return errors.New("transform_param: mean_file is not for ImageSegData: give mean_value")
	}
	t, err := data.NewPaddingTransformer(l.Param.GetTransformParam(), l.Param.GetPhase(), 0)
	if err != nil {
		return err
	}
	seed := l.Device.Random.Uint64()
	open := data.OpenImageNames
	if p.GetLabelType() == caffepb.ImageDataParameter_PIXEL {
		open = data.OpenImagePairs
	}
	list, err := open(p.GetSource(), p.GetRootFolder(), p.GetShuffle(), seed)
	if err != nil {
		return err
	}
	decoder := data.NewPairDecoder(filesDecoder(p, seed), t, float32(p.GetIgnoreLabel()))
	if err := l.openFiles(top[:1], "image_data_param", p, list, data.Config{Decoder: decoder, Transformer: t, Seed: seed}); err != nil {
		return err
	}
	return errors.Join(l.resizeLabels(top[1]), l.Reshape(nil, top))
}

// Reshape restores the shapes of the last batch.
func (l *imageSegData) Reshape(_, top []*blob.Blob) error {
	if len(top) > 2 {
		top[2].Reshape(l.shape[0], 1, 1, 2)
	}
	return l.labelledImages.Reshape(nil, top)
}

// Forward hands out the next batch.
func (l *imageSegData) Forward(_, top []*blob.Blob) error {
	b, err := l.next(top)
	if err != nil || b == nil || len(top) < 3 {
		return err
	}
	top[2].Reshape(l.shape[0], 1, 1, 2)
	sizes := top[2].Data()
	for item := range l.shape[0] {
		height, width := b.Size(item)
		sizes[2*item], sizes[2*item+1] = float32(min(height, l.shape[2])), float32(min(width, l.shape[3]))
	}
	return nil
}
