package data

import (
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/data"
	"github.com/swcaffe/swcaffe/layers/part"
)

// labelledImages hands out images, items x channels x height x width, and the labels of their pixels, items x 1 x height x width, of a
// data.PairDecoder.
type labelledImages struct {
	batchLayer
	labels []float32
	copy   part.Mover // of the labels
}

// resizeLabels gives the top of labels the shape of the images.
func (l *labelledImages) resizeLabels(top *blob.Blob) (err error) {
	items, height, width := l.shape[0], l.shape[2], l.shape[3]
	if top.Count() != items*height*width || len(l.labels) != top.Count() {
		l.labels = make([]float32, items*height*width)
		if l.copy, err = part.NewMover(&l.Base, items, height*width); err != nil {
			return err
		}
	}
	top.Reshape(items, 1, height, width)
	return nil
}

// Reshape restores the shapes of the last batch.
func (l *labelledImages) Reshape(bottom, top []*blob.Blob) error {
	top[1].Reshape(l.shape[0], 1, l.shape[2], l.shape[3])
	return l.batchLayer.Reshape(bottom, top[:1])
}

// next hands out the next batch. It returns nil if no values are computed.
func (l *labelledImages) next(top []*blob.Blob) (*data.Batch, error) {
	b, err := l.take(top[:1])
	switch {
	case err != nil:
		return nil, err
	case b == nil:
		return nil, l.copy.Run(nil, nil)
	}
	if err := l.resizeLabels(top[1]); err != nil {
		return nil, err
	}
	n := l.shape[2] * l.shape[3]
	for item := range l.shape[0] {
		copy(l.labels[item*n:(item+1)*n], b.PixelLabels(item))
	}
	return b, l.copy.Run(top[1].Data(), l.labels)
}
