package layers

import (
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
)

// axisOf returns an axis of bottom[0]; -1 is the last.
func axisOf(bottom *blob.Blob, axis int) (int, error) {
	a, ok := bottom.Axis(axis)
	if !ok {
		return 0, fmt.Errorf("axis %d is out of range: bottom[0] has shape %s", axis, bottom.ShapeString())
	}
	return a, nil
}

// splitAxis returns the extents of bottom[0] before, at and behind an axis.
func splitAxis(bottom *blob.Blob, axis int) ([3]int, error) {
	a, err := axisOf(bottom, axis)
	if err != nil {
		return [3]int{}, err
	}
	return [3]int{bottom.CountRange(0, a), bottom.Dim(a), bottom.CountFrom(a + 1)}, nil
}

// checkImages is what layers ask that know height and width.
func checkImages(bottom *blob.Blob) error {
	if bottom.NumAxes() != 4 {
		return fmt.Errorf("bottom[0] must have 4 axes (num, channels, height, width), its shape is %s", bottom.ShapeString())
	}
	return nil
}

// sameShape reports whether two blobs have the same axes.
func sameShape(a, b *blob.Blob) bool { return slices.Equal(a.Shape(), b.Shape()) }

// checkSameShape asks that all bottoms have the shape of the first.
func checkSameShape(bottom []*blob.Blob) error {
	for i, b := range bottom {
		if !sameShape(b, bottom[0]) {
			return fmt.Errorf("all bottoms must have the same shape: bottom[0] has %s, bottom[%d] %s", bottom[0].ShapeString(), i, b.ShapeString())
		}
	}
	return nil
}
