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
		Name: "Filter", Doc: "the items of the bottoms for which the last bottom is not 0",
		Couples: layers.Always(layers.Differs, "hands on a number of items that differs between workers, whose losses count by the items read"),
		Params:  []string{},
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &filter{Base: layers.Base{Param: p, Device: d}, first: true}
		},
		Bottoms: layers.AtLeast(2), Tops: layers.AtLeast(1), NoForceBackward: []int{-1},
	})
}

// filter is Caffe's Filter layer. The tops' shapes depend on data. Every Reshape reads the selector, except the first, at set-up, which
// makes room for the whole batch.
type filter struct {
	layers.Base
	first bool            // no Reshape yet
	rows  []part.RowMover // one per top
	shape []int
	index []int // the selected items
}

func (l *filter) SetUp(bottom, top []*blob.Blob) error {
	if len(top) != len(bottom)-1 {
		return fmt.Errorf("top.size() should be equal to bottom.size() - 1: there are %d tops and %d bottoms", len(top), len(bottom))
	}
	l.rows = make([]part.RowMover, len(top))
	return nil
}

func (l *filter) Reshape(bottom, top []*blob.Blob) error {
	selector := bottom[len(top)]
	items := selector.Legacy(0)
	if selector.NumAxes() == 0 || selector.Count() != items {
		return fmt.Errorf("selector blob must be a vector of items: bottom[%d] has shape %s", len(top), selector.ShapeString())
	}
	l.readSelector(selector.Data())
	kept := len(l.index)
	if l.first {
		kept, l.first = items, false
	}
	for i, t := range top {
		if bottom[i].NumAxes() == 0 || bottom[i].Dim(0) != items {
			return fmt.Errorf("each bottom should have the same 0th dimension as the selector blob: bottom[%d] has shape %s, the selector %s",
				i, bottom[i].ShapeString(), selector.ShapeString())
		}
		l.shape = append(l.shape[:0], bottom[i].Shape()...)
		l.shape[0] = kept
		t.Reshape(l.shape...)
		if err := l.rows[i].Reshape(&l.Base, items, bottom[i].CountFrom(1)); err != nil {
			return err
		}
	}
	return nil
}

// readSelector lists the selected items. On a machine that counts cost only, no selector is computed: if all its values are zero, all items
// count as selected.
func (l *filter) readSelector(selector []float32) {
	l.index = l.index[:0]
	for n, v := range selector {
		if v != 0 {
			l.index = append(l.index, n)
		}
	}
	if len(l.index) > 0 || l.Device.Machine.Values() {
		return
	}
	for n := range selector {
		l.index = append(l.index, n)
	}
}

func (l *filter) Forward(bottom, top []*blob.Blob) error {
	for i, t := range top {
		if err := l.rows[i].Gather(t.Data(), bottom[i].Data(), l.index); err != nil {
			return err
		}
	}
	return nil
}

// Traits implements Planned. Forward keeps the indices.
func (l *filter) Traits() layers.Traits { return layers.Traits{Unread: layers.ReadsNothing} }

func (l *filter) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if propagateDown[len(top)] {
		return errors.New("layer does not support backprop to selector (the last bottom)")
	}
	for i, t := range top {
		if !propagateDown[i] {
			continue
		}
		if err := l.rows[i].Scatter(bottom[i].Diff(), t.Diff(), l.index); err != nil {
			return err
		}
	}
	return nil
}
