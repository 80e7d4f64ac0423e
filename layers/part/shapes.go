package part

import (
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// AxisOf returns an axis of bottom[0]; -1 is the last.
func AxisOf(bottom *blob.Blob, axis int) (int, error) {
	a, ok := bottom.Axis(axis)
	if !ok {
		return 0, fmt.Errorf("axis %d is out of range: bottom[0] has shape %s", axis, bottom.ShapeString())
	}
	return a, nil
}

// SplitAxis returns the extents of bottom[0] before, at and behind an axis.
func SplitAxis(bottom *blob.Blob, axis int) ([3]int, error) {
	a, err := AxisOf(bottom, axis)
	if err != nil {
		return [3]int{}, err
	}
	return [3]int{bottom.CountRange(0, a), bottom.Dim(a), bottom.CountFrom(a + 1)}, nil
}

// CheckImages is what layers ask that know height and width.
func CheckImages(bottom *blob.Blob) error {
	if bottom.NumAxes() != 4 {
		return fmt.Errorf("bottom[0] must have 4 axes (num, channels, height, width), its shape is %s", bottom.ShapeString())
	}
	return nil
}

// SameShape reports whether two blobs have the same axes.
func SameShape(a, b *blob.Blob) bool { return slices.Equal(a.Shape(), b.Shape()) }

// CheckSameShape asks that all bottoms have the shape of the first.
func CheckSameShape(bottom []*blob.Blob) error {
	for i, b := range bottom {
		if !SameShape(b, bottom[0]) {
			return fmt.Errorf("all bottoms must have the same shape: bottom[0] has %s, bottom[%d] %s", bottom[0].ShapeString(), i, b.ShapeString())
		}
	}
	return nil
}

// ShapeOf checks a shape that the user wrote.
func ShapeOf(p *caffepb.BlobShape) ([]int, error) {
	var shape []int
	for i, d := range p.GetDim() {
		if d < 0 || d > blob.MaxCount {
			return nil, fmt.Errorf("dim %d of the shape is %d; it must be 0 to %d", i, d, blob.MaxCount)
		}
		shape = append(shape, int(d))
	}
	return shape, nil
}
