package intake

import (
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// exact bounds the integers that float32 holds.
const exact = 1 << 24

// held is a constant as the top of a Parameter layer.
func (n *node) held(t *onnx.Tensor, top string) (*value, error) {
	if t.Ints != nil {
		f := floats(make([]float32, len(t.Ints)), t.Dims...)
		for i, v := range t.Ints {
			if v < -exact || v > exact {
				return nil, fmt.Errorf("the constant %d is no exact float", v)
			}
			f.Floats[i] = float32(v)
		}
		t = f
	}
	shape := &caffepb.BlobShape{}
	for _, d := range t.Dims {
		shape.Dim = append(shape.Dim, int64(d))
	}
	p := &caffepb.LayerParameter{ParameterParam: &caffepb.ParameterParameter{Shape: shape}}
	tops, err := n.add("Parameter", p, nil, []*onnx.Tensor{t}, top)
	if err != nil {
		return nil, err
	}
	return tops[0], nil
}

// spreadShape is ONNX's rule for operands of unequal shapes: aligned at the end, extents of 1 are repeated.
func spreadShape(shapes ...[]int) ([]int, error) {
	axes := 0
	for _, s := range shapes {
		axes = max(axes, len(s))
	}
	out := slices.Repeat([]int{1}, axes)
	for _, s := range shapes {
		for i, d := range s {
			switch at := axes - len(s) + i; {
			case out[at] == 1:
				out[at] = d
			case d != 1 && d != out[at]:
				return nil, fmt.Errorf("operands of shapes %v: extents %d and %d of axis %d are neither equal nor 1", shapes, out[at], d, at)
			}
		}
	}
	size := 1.0
	for _, d := range out {
		size *= float64(d)
	}
	if size > blob.MaxCount {
		return nil, fmt.Errorf("operands of shapes %v give shape %v of more than %d values", shapes, out, blob.MaxCount)
	}
	return out, nil
}

// spread repeats a value's extents of 1 to shape dims with Tile layers.
func (c chain) spread(v *value, dims []int) *value {
	if missing := len(dims) - len(v.shape); missing > 0 {
		v = c.shaped(v, append(slices.Repeat([]int{1}, missing), v.shape...)...)
	}
	for axis, d := range dims {
		if v.shape[axis] != d {
			v = c.tiled(v, axis, d)
		}
	}
	return v
}

// tiled repeats a value along an axis.
func (c chain) tiled(v *value, axis, times int) *value {
	if times == 1 {
		return v
	}
	p := &caffepb.TileParameter{Tiles: proto.Int32(int32(times))}
	if axis != 1 {
		p.Axis = proto.Int32(int32(axis))
	}
	return c.layer("Tile", &caffepb.LayerParameter{TileParam: p}, v)
}

// spreadAll gives values one shape.
func (c chain) spreadAll(vs ...*value) []*value {
	var shapes [][]int
	for _, v := range vs {
		shapes = append(shapes, v.shape)
	}
	dims := must(spreadShape(shapes...))
	out := make([]*value, len(vs))
	for k, v := range vs {
		out[k] = c.spread(v, dims)
	}
	return out
}

// expand repeats extents of 1 to a shape that is itself aligned with the value's.
var expand = composed(func(c chain) *value {
	v := must(c.plain(0))
	to := must(c.list("", 1))
	if slices.ContainsFunc(to, func(d int) bool { return d < 1 }) {
		c.refuse("shape %v; extents must be positive", to)
	}
	return c.spread(v, must(spreadShape(v.shape, to)))
})
