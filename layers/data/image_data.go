package data

import (
	"errors"
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/data"
	"github.com/swcaffe/swcaffe/data/imageio"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "ImageData",
		Doc:  "hands out batches of image files named in a list, resized and transformed",
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &imageDataLayer{batchLayer{Base: layers.Base{Param: p, Device: d}}}
		},
		Bottoms: layers.Exactly(0), Tops: layers.Between(1, 2), NoGradient: true,
	})
}

// imagesAhead is the number of batches prepared ahead, the same as in Caffe.
const imagesAhead = 4

// imageDataLayer is Caffe's ImageData layer. Top 0 is items x channels x height x width; an optional top 1 holds the labels. All images,
// grey ones too, have 3 channels unless is_color is false.
type imageDataLayer struct{ batchLayer }

// SetUp reads the list and the shape of its first image.
func (l *imageDataLayer) SetUp(_, top []*blob.Blob) error {
	p := l.Param.GetImageDataParam()
	height, width := int(p.GetNewHeight()), int(p.GetNewWidth())
	switch {
	case p.GetBatchSize() == 0:
		return errors.New("image_data_param: batch_size must be positive, it is 0")
	case p.GetSource() == "":
		return errors.New("image_data_param: source is not set")
	case (height > 0) != (width > 0):
		return fmt.Errorf("image_data_param: new_height %d and new_width %d must be set both or neither", height, width)
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
	if n := int(p.GetRandSkip()); n > source.Len() {
		return fmt.Errorf("image_data_param: rand_skip %d is more than the %d images of %s", n, source.Len(), p.GetSource())
	}
	mode := imageio.Color
	if !p.GetIsColor() {
		mode = imageio.Gray
	}
	return l.open(top, data.Config{
		Source: source, Decoder: data.ImageDecoder{Height: height, Width: width, Mode: mode, Augmenter: augmenter, Seed: seed}, Transformer: t,
		BatchSize: int(p.GetBatchSize()), Ahead: imagesAhead, Seed: seed, Skip: randomSkip(seed, p.GetRandSkip()),
	})
}

// randomSkip returns the number of images to skip at the start, less than limit.
func randomSkip(seed uint64, limit uint32) uint64 {
	if limit == 0 {
		return 0
	}
	return (seed >> 32) % uint64(limit)
}
