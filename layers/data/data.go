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
		Name:   "Data",
		Params: []string{"data_param", "transform_param"},
		Doc:    "hands out batches of the Datums in a LevelDB or LMDB, transformed",
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &dataLayer{batchLayer{Base: layers.Base{Param: p, Device: d}}}
		},
		Bottoms: layers.Exactly(0), Tops: layers.Between(1, 2), NoGradient: true, Effects: layers.NextBatch,
	})
}

// dataLayer is Caffe's Data layer. Top 0 is items x channels x height x width; an optional top 1 holds the labels.
type dataLayer struct{ batchLayer }

// SetUp opens the database and reads the shape of its first record.
func (l *dataLayer) SetUp(_, top []*blob.Blob) error {
	p := l.Param.GetDataParam()
	if p.GetBatchSize() == 0 {
		return errors.New("data_param: batch_size must be positive, it is 0")
	}
	t, augmenter, err := l.transformer()
	if err != nil {
		return err
	}
	source, err := data.OpenDB(p)
	if err != nil {
		return err
	}
	if skip := p.GetRandSkip(); skip > 0 && l.Device.Log != nil {
		l.Device.Log.Warnf("layer %q: rand_skip %d does nothing in a Data layer, as in Caffe 1.0", l.Param.GetName(), skip)
	}
	seed := l.Device.Random.Uint64()
	return l.open(top, data.Config{
		Source: source, Decoder: data.DatumDecoder{Transformer: t, Augmenter: augmenter, Seed: seed}, Transformer: t,
		BatchSize: int(p.GetBatchSize()), Ahead: int(p.GetPrefetch()), Seed: seed,
	})
}
