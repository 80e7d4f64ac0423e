package intake

import (
	"slices"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// Caffe's MVN adds eps to the deviation, ONNX's normalizations add it to the variance below the root. So they become Reduction layers for mean
// and variance, Bias and Scale layers that apply them, and a Scale layer with the node's weights.

// normalized subtracts the mean over all axes from axis on, and multiplies by what inverse makes of the variance. It returns the mean and the
// factor too.
func (c chain) normalized(v *value, axis int, inverse func(variance *value) *value) (y, mean, factor *value) {
	n := count(v.shape[axis:])
	mean = c.reduction(caffepb.ReductionParameter_MEAN, v, axis, 1)
	centred := c.shifted(v, c.power(mean, 1, -1, 0), 0)
	factor = inverse(c.reduction(caffepb.ReductionParameter_SUMSQ, centred, axis, 1/float32(n)))
	return c.scaled(centred, factor, 0), mean, factor
}

// belowRoot is 1 / sqrt(variance + eps).
func (c chain) belowRoot(eps float32) func(*value) *value {
	return func(variance *value) *value { return c.power(variance, -0.5, 1, eps) }
}

// weighted multiplies v by input 1 and adds input 2, if there is one, whose axes are aligned with dims, those of v from axis on.
func (c chain) weighted(v *value, axis int, dims []int) *value {
	scale := must(c.operand(1))
	var bias *value
	if len(c.GetInput()) > 2 && c.GetInput()[2] != "" {
		bias = must(c.operand(2))
	}
	constant := func(w *value) bool {
		return w != nil && w.constant != nil && slices.Equal(w.constant.Dims, dims) && w.constant.Floats != nil
	}
	if constant(scale) && (bias == nil || constant(bias)) {
		p := &caffepb.ScaleParameter{}
		setAxes(&p.Axis, &p.NumAxes, axis, len(dims))
		weights := []*onnx.Tensor{scale.constant}
		if bias != nil {
			p.BiasTerm, weights = proto.Bool(true), append(weights, bias.constant)
		}
		return c.layers(1, "Scale", &caffepb.LayerParameter{ScaleParam: p}, []*value{v}, weights...)[0]
	}
	fit := func(k int) *value {
		w := must(c.plain(k))
		if got, err := spreadShape(w.shape, dims); err != nil || !slices.Equal(got, dims) {
			c.refuse("input %d has shape %v, which does not fit %v", k, w.shape, dims)
		}
		return c.spread(w, dims)
	}
	v = c.scaled(v, fit(1), axis)
	if bias != nil {
		v = c.shifted(v, fit(2), axis)
	}
	return v
}

// layerNormalization normalizes over all axes from axis on. Further outputs are the mean and the factor.
var layerNormalization = composed(func(c chain) *value {
	v := must(c.plain(0))
	axis := must(axisOf(c.int("axis", -1), len(v.shape)))
	c.int("stash_type", 1) // the type of intermediate results: swcaffe sums in double
	x, kept, dims := v, axis, v.shape[axis:]
	if axis == 0 {
		x, kept = c.shaped(v, append([]int{1}, v.shape...)...), 1
	}
	y, mean, factor := c.normalized(x, kept, c.belowRoot(c.float("epsilon", 1e-5)))
	y = c.shaped(c.weighted(y, kept, dims), v.shape...)
	moments := append(slices.Clone(v.shape[:axis]), slices.Repeat([]int{1}, len(dims))...)
	for k, m := range []*value{mean, factor} {
		if at := k + 1; at < len(c.GetOutput()) && c.GetOutput()[at] != "" {
			c.set(at, c.shaped(m, moments...))
		}
	}
	return y
})

// instanceNormalization normalizes each channel of each item.
var instanceNormalization = composed(func(c chain) *value {
	v := must(c.plain(0))
	if len(v.shape) < 3 {
		c.refuse("input 0 has shape %v, without spatial axes", v.shape)
	}
	y, _, _ := c.normalized(v, 2, c.belowRoot(c.float("epsilon", 1e-5)))
	return c.weighted(y, 1, v.shape[1:2])
})

// groupNormalization normalizes groups of channels. In opset 18 it has weights for each group, from 21 on for each channel.
var groupNormalization = composed(func(c chain) *value {
	v := must(c.plain(0))
	groups := c.int("num_groups", 0)
	c.int("stash_type", 1)
	if len(v.shape) < 3 || groups < 1 || v.shape[1]%groups != 0 {
		c.refuse("num_groups %d for an input of shape %v", groups, v.shape)
	}
	y, _, _ := c.normalized(c.shaped(v, v.shape[0], groups, count(v.shape[1:])/groups), 2, c.belowRoot(c.float("epsilon", 1e-5)))
	if c.opset < 21 {
		return c.shaped(c.weighted(y, 1, []int{groups}), v.shape...)
	}
	return c.weighted(c.shaped(y, v.shape...), 1, v.shape[1:2])
})

// meanVarianceNormalization adds 1e-9 to the deviation over the given axes.
var meanVarianceNormalization = composed(func(c chain) *value {
	v := must(c.plain(0))
	var kept, gone []int
	axes := c.ints("axes", []int{0, 2, 3})
	for i := range axes {
		axes[i] = must(axisOf(axes[i], len(v.shape)))
	}
	for axis := range v.shape {
		if slices.Contains(axes, axis) {
			gone = append(gone, axis)
		} else {
			kept = append(kept, axis)
		}
	}
	order := append(slices.Clone(kept), gone...)
	x := c.permuted(v, order...)
	dims := x.shape
	if len(kept) == 0 {
		x = c.shaped(x, append([]int{1}, dims...)...)
	}
	y, _, _ := c.normalized(x, max(1, len(kept)), func(variance *value) *value { return c.power(c.power(variance, 0.5, 1, 0), -1, 1, 1e-9) })
	return c.permuted(c.shaped(y, dims...), inverse(order)...)
})
