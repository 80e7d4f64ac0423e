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
		Name:   "DenseImageData",
		Params: []string{"dense_image_data_param", "transform_param"},
		Doc:    "hands out batches of image files and of the files with their pixels' labels, named in a list",
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &denseImageDataLayer{labelledImages{batchLayer: batchLayer{Base: layers.Base{Param: p, Device: d}}}}
		},
		Bottoms: layers.Exactly(0), Tops: layers.Exactly(2), NoGradient: true, Effects: layers.NextBatch,
	})
}

// denseImageDataLayer is SegNet's DenseImageData layer. Top 0 is items x channels x height x width, top 1 items x 1 x height x width: the
// grey values of the images of labels. Images are resized with interpolation, labels to the nearest pixel. Of transform_param, mean and scale
// change the images only. Crops and mirrors, which SegNet's layer refuses, are the same for an image and its labels.
type denseImageDataLayer struct{ labelledImages }

// SetUp reads the list and the shape of its first image.
func (l *denseImageDataLayer) SetUp(_, top []*blob.Blob) error {
	p := l.Param.GetDenseImageDataParam()
	if err := checkFiles("dense_image_data_param", p); err != nil {
		return err
	}
	if p.GetMeanFile() != "" {
		return errors.New("dense_image_data_param: mean_file has no effect in SegNet's layer: give it in transform_param, or leave it out")
	}
	t, err := data.NewTransformer(l.Param.GetTransformParam(), l.Param.GetPhase())
	if err != nil {
		return err
	}
	seed := l.Device.Random.Uint64()
	list, err := data.OpenImagePairs(p.GetSource(), p.GetRootFolder(), p.GetShuffle(), seed)
	if err != nil {
		return err
	}
	decoder := data.NewPairDecoder(filesDecoder(p, seed), t, 0)
	if err := l.openFiles(top[:1], "dense_image_data_param", p, list, data.Config{Decoder: decoder, Transformer: t, Seed: seed}); err != nil {
		return err
	}
	return l.resizeLabels(top[1])
}

// Forward hands out the next batch.
func (l *denseImageDataLayer) Forward(_, top []*blob.Blob) error {
	_, err := l.next(top)
	return err
}
