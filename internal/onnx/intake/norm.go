package intake

import (
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// batchNormalization is a BatchNorm and, unless its factors are 1 and its summands 0, a Scale in place behind it.
func batchNormalization(n *node) error {
	v, err := n.plain(0)
	if err != nil {
		return err
	}
	var t [4]*onnx.Tensor
	for k := range t {
		if t[k], err = n.weight(1 + k); err != nil {
			return err
		}
	}
	if n.int("training_mode", 0) != 0 || n.int("spatial", 1) != 1 {
		return fmt.Errorf("training_mode and spatial: 0 have no form in Caffe's BatchNorm")
	}
	p := &caffepb.LayerParameter{BatchNormParam: &caffepb.BatchNormParameter{Eps: proto.Float32(n.float("epsilon", 1e-5))}}
	out := n.GetOutput()[0]
	scaled := false
	for c := range t[0].Floats {
		scaled = scaled || t[0].Floats[c] != 1
	}
	for c := range t[1].Floats {
		scaled = scaled || t[1].Floats[c] != 0
	}
	if !scaled {
		return n.one("BatchNorm", p, []*value{v}, t[2], t[3], floats([]float32{1}, 1))
	}
	normed, err := n.add("BatchNorm", p, []*value{v}, []*onnx.Tensor{t[2], t[3], floats([]float32{1}, 1)}, out+"@"+n.GetName())
	if err != nil {
		return err
	}
	return n.one("Scale", &caffepb.LayerParameter{ScaleParam: &caffepb.ScaleParameter{BiasTerm: proto.Bool(true)}}, normed, t[0], t[1])
}

func lrn(n *node) error {
	v, err := n.plain(0)
	if err != nil {
		return err
	}
	return n.one("LRN", &caffepb.LayerParameter{LrnParam: &caffepb.LRNParameter{
		LocalSize: proto.Uint32(uint32(n.int("size", 0))), Alpha: proto.Float32(n.float("alpha", 1e-4)), Beta: proto.Float32(n.float("beta", 0.75)),
		K: proto.Float32(n.float("bias", 1)),
	}}, []*value{v})
}

// softmax works along one axis. Before opset 13 it worked on all axes from axis on, which is the same if the others have extent 1.
func softmax(n *node) error {
	v, err := n.input(0)
	if err != nil {
		return err
	}
	missing := -1
	if n.opset < 13 {
		missing = 1
	}
	axis, err := axisOf(n.int("axis", missing), len(v.dims()))
	if err != nil {
		return err
	}
	if n.opset < 13 && count(v.dims()[axis+1:]) != 1 {
		return softmaxOfRows(axis)(n)
	}
	perm := v.perm
	if perm != nil && v.pad == nil && v.flat == 0 {
		axis, v = perm[axis], &value{blob: v.blob, shape: v.shape}
	} else if v, err = n.settle(v); err != nil {
		return err
	}
	p := &caffepb.LayerParameter{}
	if axis != 1 {
		p.SoftmaxParam = &caffepb.SoftmaxParameter{Axis: proto.Int32(int32(axis))}
	}
	if err := n.one("Softmax", p, []*value{v}); err != nil {
		return err
	}
	out := n.values[n.GetOutput()[0]]
	out.perm, out.positive = perm, true
	return nil
}

// softmaxOfRows is the Softmax over all axes from one on.
func softmaxOfRows(axis int) rule {
	return composed(func(c chain) *value {
		v := must(c.plain(0))
		kept := v.shape[:axis]
		rows := c.shaped(v, append(slices.Clone(kept), count(v.shape[axis:]))...)
		y := c.layer("Softmax", &caffepb.LayerParameter{SoftmaxParam: &caffepb.SoftmaxParameter{Axis: proto.Int32(int32(axis))}}, rows)
		y.positive = true
		return c.shaped(y, v.shape...)
	})
}

// logSoftmax is x - max - log(sum(exp(x - max))): the logarithm of a Softmax layer would be that of 0 for values far below the largest.
func logSoftmax(c chain) *value {
	v := must(c.plain(0))
	missing := -1
	if c.opset < 13 {
		missing = 1
	}
	axis := must(axisOf(c.int("axis", missing), len(v.shape)))
	from := func(x *value, axis int) *value {
		below := c.shifted(x, c.power(largest(c, x, axis), 1, -1, 0), 0)
		return c.shifted(below, c.power(logSum(c, c.layer("Exp", &caffepb.LayerParameter{}, below), axis), 1, -1, 0), 0)
	}
	if c.opset < 13 { // the sum is over all axes from one on
		return c.behind(v, axis, from)
	}
	return c.along(v, axis, from)
}

// along applies f along one axis of v: f works on all axes from one on, so that the axis comes last.
func (c chain) along(v *value, axis int, f func(x *value, axis int) *value) *value {
	if count(v.shape[axis+1:]) == 1 {
		return c.behind(v, axis, f)
	}
	var order []int
	for i := range v.shape {
		if i != axis {
			order = append(order, i)
		}
	}
	order = append(order, axis)
	back := make([]int, len(order))
	for i, k := range order {
		back[k] = i
	}
	return c.permuted(f(c.permuted(v, order...), len(order)-1), back...)
}

// behind applies f to the axes of v from one on. f has an axis before them, which Bias and Scale need.
func (c chain) behind(v *value, axis int, f func(x *value, axis int) *value) *value {
	if axis > 0 {
		return f(v, axis)
	}
	return c.shaped(f(c.shaped(v, append([]int{1}, v.shape...)...), 1), v.shape...)
}

// lpNormalization divides by the norm along an axis. A norm of 0 leaves zeros, as in ONNX Runtime.
func lpNormalization(c chain) *value {
	v := must(c.plain(0))
	axis := must(axisOf(c.int("axis", -1), len(v.shape)))
	norm := length
	switch p := c.int("p", 2); p {
	case 1:
		norm = func(c chain, v *value, axis int) *value {
			return c.reduction(caffepb.ReductionParameter_ASUM, v, axis, 1)
		}
	case 2:
	default:
		c.refuse("p %d; the operator has 1 and 2", p)
	}
	return c.along(v, axis, func(x *value, axis int) *value {
		return c.scaled(x, c.power(c.clipped(norm(c, x, axis), 1.2e-38, infinite), -1, 1, 0), 0)
	})
}
