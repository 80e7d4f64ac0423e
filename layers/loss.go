package layers

import (
	"errors"
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// lossParam is what loss_param says: the label to ignore and what the sum is divided by.
type lossParam struct {
	ignore    int
	hasIgnore bool
	mode      caffepb.LossParameter_NormalizationMode
}

// readLossParam reads loss_param. Where normalization is missing, the older normalize decides: true means VALID, false
// BATCH_SIZE; where both are missing the mode is missing.
func readLossParam(p *caffepb.LossParameter, missing caffepb.LossParameter_NormalizationMode) lossParam {
	l := lossParam{ignore: int(p.GetIgnoreLabel()), hasIgnore: p.GetIgnoreLabel() != 0 || p != nil && p.IgnoreLabel != nil, mode: missing}
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

// normaliser is what a loss over outer x inner items of which valid count is divided by; it is at least 1.
func (l lossParam) normaliser(outer, inner, valid int) float64 {
	n := 1
	switch l.mode {
	case caffepb.LossParameter_FULL:
		n = outer * inner
	case caffepb.LossParameter_VALID:
		n = valid
	case caffepb.LossParameter_BATCH_SIZE:
		n = outer
	}
	return float64(max(1, n))
}

// label reads a label, an integer stored as a float. ok is false if it is to be ignored. Caffe reads out of bounds where
// a label is out of range; here it is an error that names the label, the item and the number of classes.
func (l lossParam) label(value float32, item, classes int) (label int, ok bool, err error) {
	label = int(value)
	if l.hasIgnore && label == l.ignore {
		return 0, false, nil
	}
	if label < 0 || label >= classes || value != value {
		return 0, false, fmt.Errorf("label %g of item %d is out of range: there are %d classes (0 to %d)", value, item, classes, classes-1)
	}
	return label, true, nil
}

// checkSameItems is what every loss layer with two bottoms asks: equal first extents.
func checkSameItems(bottom []*blob.Blob) error {
	if a, b := bottom[0].Legacy(0), bottom[1].Legacy(0); a != b {
		return fmt.Errorf("the data and label should have the same first dimension: %s and %s", bottom[0].ShapeString(), bottom[1].ShapeString())
	}
	return nil
}

// errLabelGradient is returned where a gradient with respect to labels is asked for.
var errLabelGradient = errors.New("the layer cannot backpropagate to label inputs (bottom 1)")
