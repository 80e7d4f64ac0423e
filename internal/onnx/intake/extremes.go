package intake

import (
	"math"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// reducer reduces all axes from axis on, at least one.
type reducer func(c chain, v *value, axis int) *value

// largest is a MAX pooling over all values: Caffe's Reduction has no maximum.
func largest(c chain, v *value, axis int) *value {
	kept, n := v.shape[:axis], count(v.shape[axis:])
	first := 1
	if axis > 0 {
		first = kept[0]
	}
	p := &caffepb.PoolingParameter{GlobalPooling: proto.Bool(true)}
	pooled := c.layer("Pooling", &caffepb.LayerParameter{PoolingParam: p}, c.shaped(v, first, count(kept)/max(1, first), 1, n))
	return c.shaped(pooled, kept...)
}

func smallest(c chain, v *value, axis int) *value {
	return c.power(largest(c, c.power(v, 1, -1, 0), axis), 1, -1, 0)
}

func length(c chain, v *value, axis int) *value {
	return c.power(c.reduction(caffepb.ReductionParameter_SUMSQ, v, axis, 1), 0.5, 1, 0)
}

func (c chain) log(v *value) *value { return c.layer("Log", &caffepb.LayerParameter{}, v) }

func logSum(c chain, v *value, axis int) *value {
	return c.log(c.reduction(caffepb.ReductionParameter_SUM, v, axis, 1))
}

// logSumExp subtracts the largest value before Exp.
func logSumExp(c chain, v *value, axis int) *value {
	x := v
	if axis == 0 { // Bias needs an axis that both have
		x, axis = c.shaped(v, append([]int{1}, v.shape...)...), 1
	}
	most := c.clipped(largest(c, x, axis), -math.MaxFloat32, math.MaxFloat32) // an infinite value less itself is NaN
	e := c.layer("Exp", &caffepb.LayerParameter{}, c.shifted(x, c.power(most, 1, -1, 0), 0))
	y := c.total(nil, logSum(c, e, axis), most)
	if x != v {
		return c.shaped(y)
	}
	return y
}

// maxFactors bounds the layers of a product.
const maxFactors = 256

// productOf multiplies the parts of a Slice layer.
func productOf(c chain, v *value, axis int) *value {
	kept, n := v.shape[:axis], count(v.shape[axis:])
	if n > maxFactors {
		c.refuse("a product of %d values; Caffe's Reduction has no product, and at most %d parts are multiplied by Eltwise", n, maxFactors)
	}
	parts := c.each(c.shaped(v, append(append([]int{}, kept...), n)...), axis)
	if n > 1 {
		parts[0] = c.product(parts...)
	}
	return c.shaped(parts[0], kept...)
}
