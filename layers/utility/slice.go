package utility

import (
	"errors"
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "Slice", Doc: "cuts a bottom into tops along an axis",
		Couples: layers.OnAxis0(func(p *caffepb.LayerParameter) int32 {
			if s := p.GetSliceParam(); s != nil && s.SliceDim != nil {
				return int32(p.GetSliceParam().GetSliceDim())
			}
			return p.GetSliceParam().GetAxis()
		}, "gives its tops different items"),
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &slice{joiner: joiner{Base: layers.Base{Param: p, Device: d}}}
		},
		Bottoms: layers.Exactly(1), Tops: layers.AtLeast(1),
	})
}

// slice is Caffe's Slice layer.
type slice struct {
	joiner
	size  int   // extent of the bottom's axis
	sizes []int // extents of the tops' axes
}

func (l *slice) SetUp(bottom, top []*blob.Blob) (err error) {
	p := l.Param.GetSliceParam()
	if p != nil && p.Axis != nil && p.SliceDim != nil {
		return errors.New("either axis or slice_dim should be specified; not both")
	}
	axis := int(p.GetAxis())
	if p != nil && p.SliceDim != nil {
		axis = int(p.GetSliceDim())
	}
	if l.axis, err = part.AxisOf(bottom[0], axis); err != nil {
		return err
	}
	if n := len(p.GetSlicePoint()); n != 0 && n != len(top)-1 {
		return fmt.Errorf("%d slice_point values for %d tops: give none, or one fewer than tops", n, len(top))
	}
	return nil
}

// extents returns the tops' extents along the axis.
func (l *slice) extents(size, tops int) ([]int, error) {
	points := l.Param.GetSliceParam().GetSlicePoint()
	if len(points) == 0 {
		if size%tops != 0 {
			return nil, fmt.Errorf("number of top blobs (%d) should evenly divide the input's slice axis (%d)", tops, size)
		}
		return slices.Repeat([]int{size / tops}, tops), nil
	}
	var extents []int
	last := 0
	for _, p := range append(slices.Clone(points), uint32(size)) {
		if int(p) <= last || int(p) > size {
			return nil, fmt.Errorf("slice_point values %v must increase and lie within the axis's %d", points, size)
		}
		extents = append(extents, int(p)-last)
		last = int(p)
	}
	return extents, nil
}

func (l *slice) Reshape(bottom, top []*blob.Blob) (err error) {
	if size := bottom[0].Dim(l.axis); size != l.size || len(top) != len(l.sizes) {
		if l.sizes, err = l.extents(size, len(top)); err != nil {
			return err
		}
		l.size = size
	}
	l.shape, l.next = append(l.shape[:0], bottom[0].Shape()...), l.next[:0]
	for k, t := range top {
		l.shape[l.axis] = l.sizes[k]
		t.Reshape(l.shape...)
		l.next = append(l.next, t.CountFrom(l.axis))
	}
	if len(top) == 1 {
		top[0].ShareData(bottom[0])
		top[0].ShareDiff(bottom[0])
	}
	return l.reshape(bottom[0].CountRange(0, l.axis), l.next)
}

// Forward copies parts of the bottom to the tops. A single top shares its storage with the bottom, so that nothing moves.
func (l *slice) Forward(bottom, top []*blob.Blob) error {
	if len(top) == 1 {
		return nil
	}
	from := bottom[0].Data()
	if l.moved() {
		from = slices.Clone(from)
	}
	for k, t := range top {
		if err := l.take(k, t.Data(), from, nil); err != nil {
			return err
		}
	}
	return nil
}

// Traits implements Planned.
func (l *slice) Traits() layers.Traits {
	t := l.joiner.Traits()
	t.Whole.Bottom = true
	return t
}

func (l *slice) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if len(top) == 1 || !propagateDown[0] {
		return nil
	}
	for k, t := range top {
		if err := l.put(k, bottom[0].Diff(), t.Diff()); err != nil {
			return err
		}
	}
	return nil
}
