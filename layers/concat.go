package layers

import (
	"errors"
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	Register(Type{
		Name: "Concat", Doc: "puts bottoms one behind the other along an axis",
		New: func(p *caffepb.LayerParameter, d *Device) Layer {
			return &concat{joiner: joiner{Base: Base{Param: p, Device: d}}}
		},
		Bottoms: AtLeast(1), Tops: Exactly(1),
	})
	Register(Type{
		Name: "Slice", Doc: "cuts a bottom into tops along an axis",
		New: func(p *caffepb.LayerParameter, d *Device) Layer {
			return &slice{joiner: joiner{Base: Base{Param: p, Device: d}}}
		},
		Bottoms: Exactly(1), Tops: AtLeast(1),
	})
}

// joiner moves values between a blob and parts of it along an axis, either way.
type joiner struct {
	Base
	outer int
	whole int   // values of the whole blob an outer index
	parts []int // values of each part an outer index
	join  []*kernel.Copy
	cut   []*kernel.Copy
}

// reshape prepares moving parts with the given numbers of values an outer index.
func (j *joiner) reshape(outer int, parts []int) error {
	same := j.outer == outer && sameInts(j.parts, parts)
	if same {
		return nil
	}
	j.outer, j.whole, j.parts = outer, 0, append([]int(nil), parts...)
	j.join, j.cut = nil, nil
	for _, n := range parts {
		j.whole += n
	}
	for _, n := range parts {
		join, err := kernel.NewCopy(j.Device.Machine, kernel.CopyShape{Outer: 1, Rows: outer, Cols: n, SrcRow: n, DstRow: j.whole})
		if err != nil {
			return err
		}
		cut, err := kernel.NewCopy(j.Device.Machine, kernel.CopyShape{Outer: 1, Rows: outer, Cols: n, SrcRow: j.whole, DstRow: n})
		if err != nil {
			return err
		}
		j.join, j.cut = append(j.join, join), append(j.cut, cut)
	}
	return nil
}

func sameInts(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// gather writes part k, which begins at value at of every outer index of whole; scatter is the way back.
func (j *joiner) gather(k, at int, part, whole []float32) error {
	if len(part) == 0 {
		return nil
	}
	if !j.mpe() {
		return j.cut[k].Run(part, whole[at:])
	}
	for o := range j.outer {
		copy(part[o*j.parts[k]:(o+1)*j.parts[k]], whole[o*j.whole+at:])
	}
	return nil
}

func (j *joiner) scatter(k, at int, part, whole []float32) error {
	if len(part) == 0 {
		return nil
	}
	if !j.mpe() {
		return j.join[k].Run(whole[at:], part)
	}
	for o := range j.outer {
		copy(whole[o*j.whole+at:], part[o*j.parts[k]:(o+1)*j.parts[k]])
	}
	return nil
}

// concat is Caffe's Concat layer.
type concat struct {
	joiner
	axis int
}

func (l *concat) SetUp(bottom, _ []*blob.Blob) error {
	p := l.Param.GetConcatParam()
	if p != nil && p.Axis != nil && p.ConcatDim != nil {
		return errors.New("either axis or concat_dim should be specified; not both")
	}
	axis := int(p.GetAxis())
	if p != nil && p.ConcatDim != nil {
		axis = int(p.GetConcatDim())
	}
	var ok bool
	if l.axis, ok = bottom[0].Axis(axis); !ok {
		return fmt.Errorf("axis %d is out of range: bottom[0] has shape %s", axis, bottom[0].ShapeString())
	}
	return nil
}

func (l *concat) Reshape(bottom, top []*blob.Blob) error {
	shape := append([]int(nil), bottom[0].Shape()...)
	var parts []int
	shape[l.axis] = 0
	for i, b := range bottom {
		if b.NumAxes() != len(shape) {
			return fmt.Errorf("all inputs must have the same number of axes: bottom[0] has shape %s, bottom[%d] %s", bottom[0].ShapeString(), i, b.ShapeString())
		}
		for a, d := range b.Shape() {
			if a != l.axis && d != shape[a] {
				return fmt.Errorf("all inputs must have the same shape, except along axis %d: bottom[0] has %s, bottom[%d] %s", l.axis, bottom[0].ShapeString(), i, b.ShapeString())
			}
		}
		shape[l.axis] += b.Dim(l.axis)
		parts = append(parts, b.CountFrom(l.axis))
	}
	top[0].Reshape(shape...)
	if len(bottom) == 1 {
		top[0].ShareData(bottom[0])
		top[0].ShareDiff(bottom[0])
	}
	return l.reshape(bottom[0].CountRange(0, l.axis), parts)
}

func (l *concat) Forward(bottom, top []*blob.Blob) error {
	at := 0
	for k, b := range bottom {
		if len(bottom) > 1 {
			if err := l.scatter(k, at, b.Data(), top[0].Data()); err != nil {
				return err
			}
		}
		at += l.parts[k]
	}
	return nil
}

func (l *concat) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	at := 0
	for k, b := range bottom {
		if propagateDown[k] && len(bottom) > 1 {
			if err := l.gather(k, at, b.Diff(), top[0].Diff()); err != nil {
				return err
			}
		}
		at += l.parts[k]
	}
	return nil
}

// slice is Caffe's Slice layer.
type slice struct {
	joiner
	axis int
}

func (l *slice) SetUp(bottom, top []*blob.Blob) error {
	p := l.Param.GetSliceParam()
	if p != nil && p.Axis != nil && p.SliceDim != nil {
		return errors.New("either axis or slice_dim should be specified; not both")
	}
	axis := int(p.GetAxis())
	if p != nil && p.SliceDim != nil {
		axis = int(p.GetSliceDim())
	}
	var ok bool
	if l.axis, ok = bottom[0].Axis(axis); !ok {
		return fmt.Errorf("axis %d is out of range: bottom[0] has shape %s", axis, bottom[0].ShapeString())
	}
	if n := len(p.GetSlicePoint()); n != 0 && n != len(top)-1 {
		return fmt.Errorf("%d slice_point for %d tops: one less than tops is needed, or none", n, len(top))
	}
	return nil
}

// extents are the tops' extents along the axis.
func (l *slice) extents(size, tops int) ([]int, error) {
	points := l.Param.GetSliceParam().GetSlicePoint()
	if len(points) == 0 {
		if size%tops != 0 {
			return nil, fmt.Errorf("number of top blobs (%d) should evenly divide the input's slice axis (%d)", tops, size)
		}
		points = nil
		for k := 1; k < tops; k++ {
			points = append(points, uint32(k*size/tops))
		}
	}
	var extents []int
	last := 0
	for _, p := range append(append([]uint32(nil), points...), uint32(size)) {
		if int(p) <= last || int(p) > size {
			return nil, fmt.Errorf("slice_point values %v must increase and lie within the axis's %d", points, size)
		}
		extents = append(extents, int(p)-last)
		last = int(p)
	}
	return extents, nil
}

func (l *slice) Reshape(bottom, top []*blob.Blob) error {
	extents, err := l.extents(bottom[0].Dim(l.axis), len(top))
	if err != nil {
		return err
	}
	shape := append([]int(nil), bottom[0].Shape()...)
	var parts []int
	for k, t := range top {
		shape[l.axis] = extents[k]
		t.Reshape(shape...)
		parts = append(parts, t.CountFrom(l.axis))
	}
	if len(top) == 1 {
		top[0].ShareData(bottom[0])
		top[0].ShareDiff(bottom[0])
	}
	return l.reshape(bottom[0].CountRange(0, l.axis), parts)
}

func (l *slice) Forward(bottom, top []*blob.Blob) error {
	at := 0
	for k, t := range top {
		if len(top) > 1 {
			if err := l.gather(k, at, t.Data(), bottom[0].Data()); err != nil {
				return err
			}
		}
		at += l.parts[k]
	}
	return nil
}

func (l *slice) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	at := 0
	for k, t := range top {
		if propagateDown[0] && len(top) > 1 {
			if err := l.scatter(k, at, t.Diff(), bottom[0].Diff()); err != nil {
				return err
			}
		}
		at += l.parts[k]
	}
	return nil
}
