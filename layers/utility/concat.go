package utility

import (
	"errors"
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "Concat", Doc: "concatenates bottoms along an axis",
		Couples: layers.OnAxis0(func(p *caffepb.LayerParameter) int32 {
			if c := p.GetConcatParam(); c != nil && c.ConcatDim != nil {
				return int32(p.GetConcatParam().GetConcatDim())
			}
			return p.GetConcatParam().GetAxis()
		}, "puts the batches of its bottoms one behind the other"),
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &concat{joiner: joiner{Base: layers.Base{Param: p, Device: d}}}
		},
		Bottoms: layers.AtLeast(1), Tops: layers.Exactly(1),
	})
}

// concat is Caffe's Concat layer.
type concat struct {
	joiner
	relus layers.Bottoms // bottoms with an in-place ReLU layer, whose Backward this layer includes
}

// NewConcat returns a Concat layer along an axis, for layers composed of other layers. It needs no SetUp.
func NewConcat(b layers.Base, axis int) layers.Layer {
	return &concat{joiner: joiner{Base: b, axis: axis}}
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
	shape := append(l.shape[:0], bottom[0].Shape()...)
	parts := l.next[:0]
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
	l.shape, l.next = shape, parts
	top[0].Reshape(shape...)
	if len(bottom) == 1 {
		top[0].ShareData(bottom[0])
		top[0].ShareDiff(bottom[0])
	}
	return l.reshape(bottom[0].CountRange(0, l.axis), parts)
}

// Forward copies the bottoms into the top. A single bottom shares its storage with the top, so that nothing moves.
func (l *concat) Forward(bottom, top []*blob.Blob) error {
	if len(bottom) == 1 {
		return nil
	}
	var copies [][]float32 // of the bottoms, where the top overwrites them
	for _, b := range bottom {
		if l.moved() {
			copies = append(copies, slices.Clone(b.Data()))
		}
	}
	for k, b := range bottom {
		from := b.Data()
		if copies != nil {
			from = copies[k]
		}
		if err := l.put(k, top[0].Data(), from); err != nil {
			return err
		}
	}
	return nil
}

// Traits implements Planned.
func (l *concat) Traits() layers.Traits {
	t := l.joiner.Traits()
	t.Joins.ReLUGrad = l.Blockable() && len(l.parts) > 1
	return t
}

// Arrange implements Planned.
func (l *concat) Arrange(a layers.Arranged) error {
	l.relus = a.ReLUGrad
	return l.joiner.Arrange(a)
}

func (l *concat) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if len(bottom) == 1 {
		return nil
	}
	for k, b := range bottom {
		if !propagateDown[k] {
			continue
		}
		var above []float32
		if l.relus.Has(k) {
			above = b.Data()
		}
		if err := l.take(k, b.Diff(), top[0].Diff(), above); err != nil {
			return err
		}
	}
	return nil
}
