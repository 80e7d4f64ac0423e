package utility

import (
	"errors"
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "BatchReindex", Doc: "the items of the first bottom that the second one names, in its order",
		Couples: layers.Always(layers.Moves, "chooses items by their place in the batch"),
		Params:  []string{},
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &batchReindex{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(2), Tops: layers.Exactly(1), NoForceBackward: []int{1},
	})
}

// batchReindex is Caffe's BatchReindex layer: top[k] = bottom[0][index[k]]. An index may occur any number of times.
type batchReindex struct {
	layers.Base
	rows  part.RowMover
	shape []int
	index []int
}

func (l *batchReindex) SetUp(_, _ []*blob.Blob) error { return nil }

func (l *batchReindex) Reshape(bottom, top []*blob.Blob) error {
	if bottom[1].NumAxes() != 1 {
		return fmt.Errorf("the indices must have one axis: bottom[1] has shape %s", bottom[1].ShapeString())
	}
	if bottom[0].NumAxes() == 0 {
		return errors.New("bottom[0] has no axes, so no items")
	}
	l.shape = append(l.shape[:0], bottom[0].Shape()...)
	l.shape[0] = bottom[1].Count()
	top[0].Reshape(l.shape...)
	return l.rows.Reshape(&l.Base, bottom[0].Dim(0), bottom[0].CountFrom(1))
}

func (l *batchReindex) Forward(bottom, top []*blob.Blob) error {
	items := bottom[0].Dim(0)
	l.index = l.index[:0]
	for k, v := range bottom[1].Data() {
		if !l.Device.Machine.Values() {
			v = 0 // any items cost the same
		}
		if !(v >= 0 && v < float32(items)) {
			return layers.WrongValue("index %g, number %d of bottom[1], is out of range: the batch has %d items", v, k, items)
		}
		l.index = append(l.index, int(v))
	}
	return l.rows.Gather(top[0].Data(), bottom[0].Data(), l.index)
}

// Traits implements Planned. Forward keeps the indices.
func (l *batchReindex) Traits() layers.Traits { return layers.Traits{Unread: layers.ReadsNothing} }

func (l *batchReindex) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if propagateDown[1] {
		return errors.New("the layer cannot backpropagate to indices (bottom 1)")
	}
	if !propagateDown[0] {
		return nil
	}
	return l.rows.Scatter(bottom[0].Diff(), top[0].Diff(), l.index)
}
