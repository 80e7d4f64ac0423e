package blob

import (
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// ProtoShape returns the shape that a BlobProto states: its shape field, or Caffe's old num, channels, height and
// width where one of those is set.
func ProtoShape(p *caffepb.BlobProto) []int {
	if p.Num != nil || p.Channels != nil || p.Height != nil || p.Width != nil {
		return []int{int(p.GetNum()), int(p.GetChannels()), int(p.GetHeight()), int(p.GetWidth())}
	}
	var shape []int
	for _, d := range p.GetShape().GetDim() {
		shape = append(shape, int(d))
	}
	return shape
}

// FromProto sets b to what p holds, data and (where present) diff, and takes p's shape. Values may be floats or
// doubles. It is an error if the number of values does not fit the shape.
func (b *Blob) FromProto(p *caffepb.BlobProto) error {
	shape := ProtoShape(p)
	count := 1
	for i, d := range shape {
		if d < 0 || d > 0 && count > (1<<40)/d {
			return fmt.Errorf("axis %d of the stored shape %v is out of range", i, shape)
		}
		count *= d
	}
	if n := max(len(p.Data), len(p.DoubleData)); n != count {
		return fmt.Errorf("%d values are stored for shape %v, which needs %d", n, shape, count)
	}
	b.Reshape(shape...)
	copyValues(b.Data(), p.Data, p.DoubleData)
	if n := max(len(p.Diff), len(p.DoubleDiff)); n > 0 {
		if n != count {
			return fmt.Errorf("%d gradients are stored for shape %v, which needs %d", n, shape, count)
		}
		copyValues(b.Diff(), p.Diff, p.DoubleDiff)
	}
	return nil
}

func copyValues(dst, floats []float32, doubles []float64) {
	if len(doubles) == 0 {
		copy(dst, floats)
		return
	}
	for i, v := range doubles {
		dst[i] = float32(v)
	}
}

// ToProto returns b's shape and data, and its diff if asked for, as Caffe writes them. The values are copies.
func (b *Blob) ToProto(withDiff bool) *caffepb.BlobProto {
	p := &caffepb.BlobProto{Shape: &caffepb.BlobShape{}}
	for _, d := range b.shape {
		p.Shape.Dim = append(p.Shape.Dim, int64(d))
	}
	p.Data = append([]float32(nil), b.Data()...)
	if withDiff {
		p.Diff = append([]float32(nil), b.Diff()...)
	}
	return p
}

// SameShape reports whether b has the shape that p states. As in Caffe, old four-axis shapes match with leading ones
// ignored.
func (b *Blob) SameShape(p *caffepb.BlobProto) bool {
	shape := ProtoShape(p)
	if p.Num != nil || p.Channels != nil || p.Height != nil || p.Width != nil {
		if len(b.shape) > 4 {
			return false
		}
		for i := 1; i <= 4; i++ {
			own := 1
			if i <= len(b.shape) {
				own = b.shape[len(b.shape)-i]
			}
			if shape[4-i] != own {
				return false
			}
		}
		return true
	}
	return slices.Equal(shape, b.shape)
}
