package intake

import (
	"math"
	"slices"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// The operators of this file become several layers that compute each element by itself. Terms that a threshold multiplies by 0 are clipped
// before, so that an infinite value does not become NaN.

// several is Max, Min, Sum and Mean of any number of values and constants.
func several(op caffepb.EltwiseParameter_EltwiseOp, sign float32, mean bool) rule {
	return composed(func(c chain) *value {
		var in []*value
		constants := 0
		for k := range c.GetInput() {
			constant := must(c.operand(k)).constant != nil
			v := must(c.plain(k))
			if sign < 0 {
				v = c.power(v, 1, -1, 0)
			}
			if constant && op == caffepb.EltwiseParameter_MAX { // Caffe takes the second value unless the first is larger: NaN stays behind a number
				in = slices.Insert(in, constants, v)
				constants++
				continue
			}
			in = append(in, v)
		}
		if len(in) == 0 {
			c.refuse("it has no inputs")
		}
		if op == caffepb.EltwiseParameter_MAX && (len(in) > 2 || len(in) == 2 && constants != 1) {
			c.hiding[c.GetOpType()] = true
		}
		if in = c.spreadAll(in...); len(in) > 1 {
			var coeff []float32
			for range in {
				if mean {
					coeff = append(coeff, 1/float32(len(in)))
				}
			}
			in[0] = c.eltwise(op, coeff, in...)
		}
		if sign < 0 {
			return c.power(in[0], 1, -1, 0)
		}
		return in[0]
	})
}

// extreme is Max or Min. Of a value and a number it is a Clip.
func extreme(sign float32) rule {
	all := several(caffepb.EltwiseParameter_MAX, sign, false)
	return func(n *node) error {
		inf := float32(math.Inf(1))
		for k := range min(2, len(n.GetInput())) {
			bound, v := n.values[n.GetInput()[k]], n.values[n.GetInput()[len(n.GetInput())-1-k]]
			if len(n.GetInput()) != 2 || bound == nil || v == nil || v.constant != nil || bound.constant == nil ||
				len(bound.constant.Floats) != 1 || len(bound.constant.Dims) > len(v.dims()) {
				continue
			}
			x, err := n.settled(v)
			if err != nil {
				return err
			}
			if sign > 0 {
				return n.clipTo(x, bound.constant.Floats[0], inf)
			}
			return n.clipTo(x, -inf, bound.constant.Floats[0])
		}
		return all(n)
	}
}

// settled makes layers of what waits, but of no transpose alone.
func (n *node) settled(v *value) (*value, error) {
	if v.pad != nil || v.flat > 0 {
		return n.settle(v)
	}
	return v, nil
}

// softsign is x / (1 + |x|).
var softsign = composed(func(c chain) *value {
	v := must(c.plain(0))
	return c.product(v, c.power(c.layer("AbsVal", &caffepb.LayerParameter{}, v), -1, 1, 1))
})

func (c chain) elu(v *value, alpha float32) *value {
	return c.layer("ELU", &caffepb.LayerParameter{EluParam: &caffepb.ELUParameter{Alpha: proto.Float32(alpha)}}, v)
}

// selu is gamma times ELU. Its defaults are those of opset 6; opset 1 had fewer digits.
var selu = composed(func(c chain) *value {
	alpha, gamma := float32(1.67326319217681884765625), float32(1.05070102214813232421875)
	if c.opset < 6 {
		alpha, gamma = 1.6732, 1.0507
	}
	v := must(c.plain(0))
	return c.power(c.elu(v, c.float("alpha", alpha)), 1, c.float("gamma", gamma), 0)
})

// celu is alpha ELU(x / alpha) with an ELU of alpha 1.
var celu = composed(func(c chain) *value {
	alpha := c.float("alpha", 1)
	if alpha == 0 {
		c.refuse("alpha 0")
	}
	return c.power(c.elu(c.power(must(c.plain(0)), 1, 1/alpha, 0), 1), 1, alpha, 0)
})

var infinite = float32(math.Inf(1))

// thresholdedRelu is x where x > alpha, else 0.
var thresholdedRelu = composed(func(c chain) *value {
	v, alpha := must(c.plain(0)), c.float("alpha", 1)
	return c.product(c.threshold(v, alpha), c.clipped(v, alpha, infinite))
})

// shrink is x + bias below -lambd, x - bias above lambd, else 0.
var shrink = composed(func(c chain) *value {
	v, lambda, bias := must(c.plain(0)), c.float("lambd", 0.5), c.float("bias", 0)
	if lambda < 0 {
		c.refuse("lambd %g; with a negative one the two sides overlap", lambda)
	}
	side := func(v *value) *value {
		return c.product(c.threshold(v, lambda), c.power(c.clipped(v, lambda, infinite), 1, 1, -bias))
	}
	return c.total([]float32{1, -1}, side(v), side(c.power(v, 1, -1, 0)))
})

var sign = composed(func(c chain) *value {
	c.hiding["Sign"] = true
	v := must(c.plain(0))
	return c.total([]float32{1, -1}, c.threshold(v, 0), c.threshold(c.power(v, 1, -1, 0), 0))
})

// cosh is half of e^x + e^-x. The half is in the exponents, so that no other term overflows.
func (c chain) cosh(v *value) *value {
	exp := func(scale float32) *value {
		return c.layer("Exp", &caffepb.LayerParameter{ExpParam: &caffepb.ExpParameter{Scale: proto.Float32(scale), Shift: proto.Float32(-math.Ln2)}}, v)
	}
	return c.total(nil, exp(1), exp(-1))
}

var cosh = composed(func(c chain) *value { return c.cosh(must(c.plain(0))) })

// sinh is tanh x cosh x, which is exact to a few units in the last place also near 0.
var sinh = composed(func(c chain) *value {
	v := must(c.plain(0))
	return c.product(c.layer("TanH", &caffepb.LayerParameter{}, v), c.cosh(v))
})

// liveSlopes is PRelu with slopes of any shape: max(x, 0) - slope max(-x, 0).
func liveSlopes(c chain) *value {
	in := c.spreadAll(must(c.plain(0)), must(c.plain(1)))
	relu := func(v *value) *value { return c.layer("ReLU", &caffepb.LayerParameter{}, v) }
	return c.total([]float32{1, -1}, relu(in[0]), c.product(relu(c.power(in[0], 1, -1, 0)), in[1]))
}

// computedClip is min(max(x, least), most) with bounds that are computed.
var computedClip = composed(func(c chain) *value {
	v := must(c.plain(0))
	for k, sign := range []float32{1, -1} {
		if 1+k >= len(c.GetInput()) || c.GetInput()[1+k] == "" {
			continue
		}
		bound := must(c.plain(1 + k))
		if count(bound.shape) != 1 {
			c.refuse("a bound of shape %v", bound.shape)
		}
		bound = c.spread(c.shaped(bound), v.shape)
		if sign < 0 {
			v, bound = c.power(v, 1, -1, 0), c.power(bound, 1, -1, 0)
		}
		if v = c.eltwise(caffepb.EltwiseParameter_MAX, nil, v, bound); sign < 0 {
			v = c.power(v, 1, -1, 0)
		}
	}
	return v
})
