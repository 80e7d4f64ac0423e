package data

import (
	"errors"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/data"
	"github.com/swcaffe/swcaffe/data/annotation"
	"github.com/swcaffe/swcaffe/data/augment"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name:   "AnnotatedData",
		Params: []string{"annotated_data_param", "data_param", "transform_param"},
		Doc:    "hands out batches of images with the boxes of their objects from a LevelDB or LMDB, augmented",
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &annotatedDataLayer{batchLayer: batchLayer{Base: layers.Base{Param: p, Device: d}}}
		},
		Bottoms: layers.Exactly(0), Tops: layers.Between(1, 2), NoGradient: true, Effects: layers.NextBatch,
	})
}

// columns is the number of values of an object in the label top: item, label, instance, xmin, ymin, xmax, ymax, difficult.
const columns = 8

// annotatedDataLayer is SSD's AnnotatedData layer. Top 0 is items x channels x height x width. If the records hold boxes, the optional top 1 is
// 1 x 1 x objects x 8, with the objects of all items of the batch; a batch without objects has one row of -1. Before the first batch, and on a
// machine that moves no values, it has the first image's number of objects. With MobileNet-YOLO's yolo_data_type, top 1 is items x 300 x 5, with
// class, centre and sides of each object and zeros behind the last one; classes begin with 0, and further objects are left out. If the records
// hold no boxes, top 1 holds a label for each item.
type annotatedDataLayer struct {
	batchLayer
	boxed bool // the records hold boxes, and there is a top for them
	yolo  bool // yolo_data_type
	rows  int
	label []float32
	copy  part.Mover // of the label top
}

// Objects of an image, and values of each, in labels of yolo_data_type.
const (
	yoloObjects = 300
	yoloColumns = 5
)

// SetUp opens the database and reads the shape of its first record.
func (l *annotatedDataLayer) SetUp(_, top []*blob.Blob) error {
	p, annotated := l.Param.GetDataParam(), l.Param.GetAnnotatedDataParam()
	if p.GetBatchSize() == 0 {
		return errors.New("data_param: batch_size must be positive, it is 0")
	}
	if file := annotated.GetLabelMapFile(); file != "" {
		if _, err := annotation.ReadLabelMap(file); err != nil {
			return err
		}
	}
	t, err := data.NewImageTransformer(l.Param.GetTransformParam(), l.Param.GetPhase())
	if err != nil {
		return err
	}
	augmenter, err := augment.New(l.Param.GetTransformParam(), annotated)
	if err != nil {
		return err
	}
	source, err := data.OpenDB(p)
	if err != nil {
		return err
	}
	typed, boxes, err := first(source)
	if err != nil {
		return errors.Join(err, source.Close())
	}
	images := top
	l.yolo = annotated.GetYoloDataType() != 0
	overruled := annotated != nil && annotated.AnnoType != nil // anno_type counts, not the records' type
	if l.boxed = len(top) > 1 && (typed || overruled); l.boxed {
		images = top[:1]
	}
	l.augmenter = augmenter
	seed := l.Device.Random.Uint64()
	err = l.open(images, data.Config{
		Source: source, Transformer: t, BatchSize: int(p.GetBatchSize()), Ahead: int(p.GetPrefetch()), Seed: seed,
		Decoder: data.AnnotatedDecoder{Transformer: t, Augmenter: augmenter, Seed: seed, Typed: l.boxed && !overruled},
	})
	if err != nil || !l.boxed {
		return err
	}
	return l.resizeLabel(top[1], boxes)
}

// first reads the first record of a source.
func first(s data.Source) (typed bool, boxes int, err error) {
	var r data.Record
	if err := s.Next(&r); err != nil {
		return false, 0, err
	}
	return data.Annotated(&r)
}

// resizeLabel gives the label top the shape for a number of objects.
func (l *annotatedDataLayer) resizeLabel(top *blob.Blob, objects int) (err error) {
	rows, values := max(1, objects), columns
	if l.yolo {
		rows, values = l.shape[0]*yoloObjects, yoloColumns
	}
	if rows != l.rows {
		l.rows = rows
		if l.copy, err = part.NewMover(&l.Base, rows, values); err != nil {
			return err
		}
	}
	l.reshapeLabel(top)
	return nil
}

// reshapeLabel gives the label top its shape.
func (l *annotatedDataLayer) reshapeLabel(top *blob.Blob) {
	if l.yolo {
		top.Reshape(l.rows/yoloObjects, yoloObjects, yoloColumns)
		return
	}
	top.Reshape(1, 1, l.rows, columns)
}

// Reshape restores the shapes of the last batch.
func (l *annotatedDataLayer) Reshape(bottom, top []*blob.Blob) error {
	if !l.boxed {
		return l.batchLayer.Reshape(bottom, top)
	}
	l.reshapeLabel(top[1])
	return l.batchLayer.Reshape(bottom, top[:1])
}

// Forward hands out the next batch. Its label top has a row for each object.
func (l *annotatedDataLayer) Forward(bottom, top []*blob.Blob) error {
	if !l.boxed {
		return l.batchLayer.Forward(bottom, top)
	}
	b, err := l.take(top[:1])
	if err != nil {
		return err
	}
	if b == nil {
		return l.copy.Run(nil, nil)
	}
	l.label = l.label[:0]
	for item := range l.shape[0] {
		if l.yolo {
			l.appendYolo(b.Objects(item))
		} else {
			l.appendObjects(item, b.Objects(item))
		}
	}
	if len(l.label) == 0 {
		l.label = append(l.label, -1, -1, -1, -1, -1, -1, -1, -1)
	}
	if err := l.resizeLabel(top[1], len(l.label)/columns); err != nil {
		return err
	}
	return l.copy.Run(top[1].Data(), l.label)
}

// appendObjects appends SSD's rows of an item.
func (l *annotatedDataLayer) appendObjects(item int, objects []annotation.Object) {
	for _, o := range objects {
		difficult := float32(0)
		if o.Difficult {
			difficult = 1
		}
		l.label = append(l.label, float32(item), float32(o.Label), float32(o.Instance), o.Box.XMin, o.Box.YMin, o.Box.XMax, o.Box.YMax, difficult)
	}
}

// appendYolo appends the rows of yolo_data_type of an item. Objects without area, which would end the list, are left out.
func (l *annotatedDataLayer) appendYolo(objects []annotation.Object) {
	end := len(l.label) + yoloObjects*yoloColumns
	for _, o := range objects {
		if width, height := o.Box.Width(), o.Box.Height(); len(l.label) < end && width > 0 && height > 0 {
			l.label = append(l.label, float32(o.Label-1), (o.Box.XMin+o.Box.XMax)/2, (o.Box.YMin+o.Box.YMax)/2, width, height)
		}
	}
	l.label = append(l.label, make([]float32, end-len(l.label))...)
}
