package part

import (
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// AxisOf returns the index of an axis of bottom[0]. Negative axes count from the end, as in Caffe.
func AxisOf(bottom *blob.Blob, axis int) (int, error) {
	a, ok := bottom.Axis(axis)
	if !ok {
		return 0, fmt.Errorf("axis %d is out of range: bottom[0] has shape %s", axis, bottom.ShapeString())
	}
	return a, nil
}

// SplitAxis returns the extents of bottom[0] before, at and after an axis.
func SplitAxis(bottom *blob.Blob, axis int) ([3]int, error) {
	a, err := AxisOf(bottom, axis)
	if err != nil {
		return [3]int{}, err
	}
	return [3]int{bottom.CountRange(0, a), bottom.Dim(a), bottom.CountFrom(a + 1)}, nil
}

// CheckImages returns an error unless the bottom has the four axes of images.
func CheckImages(bottom *blob.Blob) error {
	if bottom.NumAxes() != 4 {
		return fmt.Errorf("bottom[0] must have 4 axes (num, channels, height, width), its shape is %s", bottom.ShapeString())
	}
	return nil
}

// SameShape reports whether two blobs have the same shape.
func SameShape(a, b *blob.Blob) bool { return slices.Equal(a.Shape(), b.Shape()) }

// CheckSameShape returns an error unless all bottoms have the shape of the first.
func CheckSameShape(bottom []*blob.Blob) error {
	for i, b := range bottom {
		if !SameShape(b, bottom[0]) {
			return fmt.Errorf("all bottoms must have the same shape: bottom[0] has %s, bottom[%d] %s", bottom[0].ShapeString(), i, b.ShapeString())
		}
	}
	return nil
}

// CheckSameExtents is CheckSameShape, but extents of 1 at the end make no difference, as in Caffe's older layers: R x 8 and R x 8 x 1 x 1 are the same.
func CheckSameExtents(bottom []*blob.Blob) error {
	for i, b := range bottom {
		for axis := range max(b.NumAxes(), bottom[0].NumAxes()) {
			if b.Legacy(axis) != bottom[0].Legacy(axis) {
				return fmt.Errorf("all bottoms must have the same shape: bottom[0] has %s, bottom[%d] %s", bottom[0].ShapeString(), i, b.ShapeString())
			}
		}
	}
	return nil
}

// ShapeOf returns a prototxt's shape, or an error if an extent is negative or too large.
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
