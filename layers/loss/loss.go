package loss

import (
	"errors"
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// lossParam holds loss_param: the labels to ignore, and the divisor of the sum.
type lossParam struct {
	ignored []int
	wrong   []int // labels of no class that label accepts as -1
	mode    caffepb.LossParameter_NormalizationMode
	fixed   float64 // divisor of PRE_FIXED
}

// readLossParam reads loss_param. If normalization is absent, the older normalize applies: true means VALID, false BATCH_SIZE. If both are
// absent, the mode is missing.
func readLossParam(p *caffepb.LossParameter, missing caffepb.LossParameter_NormalizationMode) lossParam {
	l := lossParam{mode: missing, fixed: float64(p.GetPreFixedNormalizer())}
	if p != nil && p.IgnoreLabel != nil {
		l.ignored = []int{int(p.GetIgnoreLabel())}
	}
	switch {
	case p == nil:
	case p.Normalization != nil:
		l.mode = p.GetNormalization()
	case p.Normalize != nil && p.GetNormalize():
		l.mode = caffepb.LossParameter_VALID
	case p.Normalize != nil:
		l.mode = caffepb.LossParameter_BATCH_SIZE
	}
	return l
}

// divisor returns the divisor of a loss over outer x inner items, of which valid count. It is at least 1.
func (l lossParam) divisor(outer, inner, valid int) float64 {
	n := 1
	switch l.mode {
	case caffepb.LossParameter_FULL:
		n = outer * inner
	case caffepb.LossParameter_VALID:
		n = valid
	case caffepb.LossParameter_BATCH_SIZE:
		n = outer
	case caffepb.LossParameter_PRE_FIXED:
		return max(1, l.fixed)
	}
	return float64(max(1, n))
}

// label converts a label, an integer stored as a float. ok is false for an ignored label. A label of wrong becomes -1. Caffe reads out of
// bounds for other labels out of range; here they are errors with the label, the item and the number of classes.
func (l lossParam) label(value float32, item, classes int) (label int, ok bool, err error) {
	label = int(value)
	if slices.Contains(l.ignored, label) {
		return 0, false, nil
	}
	if slices.Contains(l.wrong, label) {
		return -1, true, nil
	}
	if label < 0 || label >= classes || value != value {
		return 0, false, layers.WrongValue("label %g of item %d is out of range: there are %d classes (0 to %d)", value, item, classes, classes-1)
	}
	return label, true, nil
}

// checkSameItems returns an error unless both bottoms have the same first extent.
func checkSameItems(bottom []*blob.Blob) error {
	if a, b := bottom[0].Legacy(0), bottom[1].Legacy(0); a != b {
		return fmt.Errorf("the data and label should have the same first dimension: %s and %s", bottom[0].ShapeString(), bottom[1].ShapeString())
	}
	return nil
}

// errLabelGradient is the error if the gradient with respect to labels is requested.
var errLabelGradient = errors.New("the layer cannot backpropagate to label inputs (bottom 1)")

// labelled is embedded by layers with scores (outer x classes x inner) and labels (outer x inner).
type labelled struct {
	lossParam
	dims [3]int
}

// classes returns the scores' extents before, at and after the class axis. It checks that every item has a label.
func classes(scores, labels *blob.Blob, axis int) ([3]int, error) {
	dims, err := part.SplitAxis(scores, axis)
	if err != nil {
		return dims, err
	}
	return dims, checkLabels(scores, labels, dims[0]*dims[2])
}

// checkLabels checks that each item has a label and at least one class.
func checkLabels(scores, labels *blob.Blob, items int) error {
	if n := labels.Count(); n != items {
		return fmt.Errorf("number of labels must match number of predictions: scores of shape %s need %d labels, there are %d (%s)",
			scores.ShapeString(), items, n, labels.ShapeString())
	}
	if items > 0 && scores.Count() == 0 {
		return fmt.Errorf("there are %d labels, but no classes: the scores have shape %s", items, scores.ShapeString())
	}
	return nil
}

// at returns the index of the score of item n (counted over outer and inner) for a class.
func (l *labelled) at(n, class int) int {
	return (n/l.dims[2]*l.dims[1]+class)*l.dims[2] + n%l.dims[2]
}

// each visits the items with their labels, except ignored ones.
func (l *labelled) each(labels []float32, visit func(n, label int)) error {
	for n, v := range labels {
		label, ok, err := l.label(v, n, l.dims[1])
		if err != nil {
			return err
		}
		if ok {
			visit(n, label)
		}
	}
	return nil
}

// eachInTile visits the items of a tile. Array 1 of Ins holds their labels as a Plane. at is the start of the item's scores in the Full
// arrays; ok is false for ignored items. A label out of range stops the loop and becomes the tile's error.
func (l *labelled) eachInTile(t *stream.Tile, visit func(at, label int, ok bool)) {
	for o := range t.O {
		for i := range t.I {
			label, ok, err := l.label(t.In[1][o*t.PStride+i], (t.O0+o)*l.dims[2]+t.I0+i, l.dims[1])
			if err != nil {
				t.Err = err
				return
			}
			visit(o*t.OStride+i, label, ok)
		}
	}
}
