package intake

import (
	"fmt"
	"strings"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// chain adds the layers of an operator that needs several. Its methods return the tops; the first error ends the rule, and composed returns it.
type chain struct{ *node }

// failure is what a method of chain panics with.
type failure struct{ error }

// composed makes a rule of a function that adds layers and returns the value of the first output. nil: it has set the outputs itself.
func composed(f func(c chain) *value) rule {
	return func(n *node) (err error) {
		defer func() {
			switch r := recover().(type) {
			case nil:
			case failure:
				err = r.error
			default:
				panic(r)
			}
		}()
		if v := f(chain{n}); v != nil {
			n.set(0, v)
		}
		return nil
	}
}

// must ends the rule if err is not nil.
func must[T any](v T, err error) T {
	if err != nil {
		panic(failure{err})
	}
	return v
}

func (c chain) refuse(format string, args ...any) { panic(failure{fmt.Errorf(format, args...)}) }

// layers adds a layer with a number of tops.
func (c chain) layers(tops int, kind string, p *caffepb.LayerParameter, bottoms []*value, weights ...*onnx.Tensor) []*value {
	names := make([]string, tops)
	for k := range names {
		names[k] = c.GetOutput()[0] + "_" + strings.ToLower(kind)
	}
	return must(c.add(kind, p, bottoms, weights, names...))
}

func (c chain) layer(kind string, p *caffepb.LayerParameter, bottoms ...*value) *value {
	return c.layers(1, kind, p, bottoms)[0]
}

// power is (shift + scale x)^power.
func (c chain) power(v *value, power, scale, shift float32) *value {
	return c.layer("Power", powerParam(power, scale, shift), v)
}

func (c chain) shaped(v *value, dims ...int) *value { return must(c.reshape(v, dims)) }

// permuted makes axis i of the result of axis order[i] of v.
func (c chain) permuted(v *value, order ...int) *value {
	return must(c.settle(&value{blob: v.blob, shape: v.shape, perm: order}))
}

func (c chain) eltwise(op caffepb.EltwiseParameter_EltwiseOp, coeff []float32, vs ...*value) *value {
	p := &caffepb.EltwiseParameter{Coeff: coeff}
	if op != caffepb.EltwiseParameter_SUM {
		p.Operation = op.Enum()
	}
	return c.layer("Eltwise", &caffepb.LayerParameter{EltwiseParam: p}, vs...)
}

func (c chain) product(vs ...*value) *value {
	return c.eltwise(caffepb.EltwiseParameter_PROD, nil, vs...)
}

func (c chain) total(coeff []float32, vs ...*value) *value {
	return c.eltwise(caffepb.EltwiseParameter_SUM, coeff, vs...)
}

// reduction is coeff times the sum, or another operation, over all axes from axis on.
func (c chain) reduction(op caffepb.ReductionParameter_ReductionOp, v *value, axis int, coeff float32) *value {
	p := &caffepb.ReductionParameter{Axis: proto.Int32(int32(axis))}
	if op != caffepb.ReductionParameter_SUM {
		p.Operation = op.Enum()
	}
	if coeff != 1 {
		p.Coeff = proto.Float32(coeff)
	}
	return c.layer("Reduction", &caffepb.LayerParameter{ReductionParam: p}, v)
}

// scaled multiplies v by by, whose axes are those of v from axis on.
func (c chain) scaled(v, by *value, axis int) *value {
	return c.layer("Scale", &caffepb.LayerParameter{ScaleParam: &caffepb.ScaleParameter{Axis: proto.Int32(int32(axis))}}, v, by)
}

// shifted adds by, whose axes are those of v from axis on.
func (c chain) shifted(v, by *value, axis int) *value {
	return c.layer("Bias", &caffepb.LayerParameter{BiasParam: &caffepb.BiasParameter{Axis: proto.Int32(int32(axis))}}, v, by)
}

// threshold is 1 for values above at, else 0.
func (c chain) threshold(v *value, at float32) *value {
	return c.layer("Threshold", &caffepb.LayerParameter{ThresholdParam: &caffepb.ThresholdParameter{Threshold: proto.Float32(at)}}, v)
}

func (c chain) clipped(v *value, lo, hi float32) *value {
	return c.layer("Clip", &caffepb.LayerParameter{ClipParam: &caffepb.ClipParameter{Min: proto.Float32(lo), Max: proto.Float32(hi)}}, v)
}

// concatenated joins values along an axis.
func (c chain) concatenated(axis int, vs ...*value) *value {
	if len(vs) == 1 {
		return vs[0]
	}
	p := &caffepb.LayerParameter{}
	if axis != 1 {
		p.ConcatParam = &caffepb.ConcatParameter{Axis: proto.Int32(int32(axis))}
	}
	return c.layer("Concat", p, vs...)
}

// parts cuts an axis before each of the points.
func (c chain) parts(v *value, axis int, points ...int) []*value {
	if len(points) == 0 {
		return []*value{v}
	}
	p := &caffepb.SliceParameter{SlicePoint: list32(points)}
	if axis != 1 {
		p.Axis = proto.Int32(int32(axis))
	}
	return c.layers(len(points)+1, "Slice", &caffepb.LayerParameter{SliceParam: p}, []*value{v})
}

// between returns the part of an axis from from to before to, and silences the rest.
func (c chain) between(v *value, axis, from, to int) *value {
	var points []int
	kept := 0
	if from > 0 {
		points, kept = append(points, from), 1
	}
	if to < v.shape[axis] {
		points = append(points, to)
	}
	parts := c.parts(v, axis, points...)
	c.silence(append(append([]*value{}, parts[:kept]...), parts[kept+1:]...)...)
	return parts[kept]
}

// silence takes values that nothing reads.
func (c chain) silence(vs ...*value) {
	if len(vs) > 0 {
		must(c.add("Silence", &caffepb.LayerParameter{}, vs, nil))
	}
}

// each cuts an axis into parts of extent 1.
func (c chain) each(v *value, axis int) []*value {
	var points []int
	for k := 1; k < v.shape[axis]; k++ {
		points = append(points, k)
	}
	return c.parts(v, axis, points...)
}

func (c chain) reversed(v *value, axis int) *value {
	return c.layer("Reverse", &caffepb.LayerParameter{ReverseParam: &caffepb.ReverseParameter{Axis: proto.Int32(int32(axis))}}, v)
}

// matrix multiplies the last axis of v by rows: rows has a row for each output.
func (c chain) matrix(v *value, rows *onnx.Tensor) *value {
	p := &caffepb.InnerProductParameter{NumOutput: proto.Uint32(uint32(rows.Dims[0])), BiasTerm: proto.Bool(false)}
	if axis := len(v.shape) - 1; axis != 1 {
		p.Axis = proto.Int32(int32(axis))
	}
	return c.layers(1, "InnerProduct", &caffepb.LayerParameter{InnerProductParam: p}, []*value{v}, rows)[0]
}
