package nets

import (
	"fmt"
	"slices"
)

// neuron appends an elementwise function.
func (b *builder) neuron(t *tip) *tip {
	if b.smooth {
		smooth := []string{"Sigmoid", "TanH", "ELU", "BNLL", "Swish", "Power", "Exp", "Mish"}
		return b.named(smooth[b.r.IntN(len(smooth))], t)
	}
	if b.chance(0.5) {
		return b.named("ReLU", t)
	}
	all := []string{"ReLU", "PReLU", "ELU", "Sigmoid", "TanH", "AbsVal", "BNLL", "Power", "Exp", "Log", "Clip", "Dropout", "Swish", "Leaky",
		"ReLU6", "HardSigmoid", "HardSwish", "Mish", "Noise"}
	kind := all[b.r.IntN(len(all))]
	if kind == "PReLU" && len(t.shape) < 2 {
		kind = "Leaky" // the blob has no channels
	}
	return b.named(kind, t)
}

// named appends the neuron layer with the given name.
func (b *builder) named(kind string, t *tip) *tip {
	switch kind {
	case "Leaky":
		return b.same("ReLU", t, "relu_param { negative_slope: 0.1 }")
	case "PReLU":
		return b.same(kind, t, fmt.Sprintf("prelu_param { channel_shared: %v }", b.chance(0.3)))
	case "Power":
		return b.same(kind, t, fmt.Sprintf("power_param { power: %d scale: 0.5 shift: 0.25 }", 1+b.r.IntN(2)))
	case "Exp": // only of bounded values
		if t = b.same("TanH", t, ""); t == nil {
			return nil
		}
		return b.same(kind, t, []string{"", "exp_param { base: 2 scale: 0.5 shift: 0.1 }"}[b.r.IntN(2)])
	case "Log":
		if t = b.same("Sigmoid", t, ""); t == nil {
			return nil
		}
		// In place, Caffe computes the slope from y as 1/(shift + y). This shift avoids a pole between log(shift) and log(shift +
		// 1).
		return b.same(kind, t, "log_param { shift: 0.75 }")
	case "Clip":
		return b.same(kind, t, "clip_param { min: -0.7 max: 0.9 }")
	case "Dropout":
		return b.same(kind, t, fmt.Sprintf("dropout_param { dropout_ratio: %g }", []float64{0.5, 0.2, 0.7}[b.r.IntN(3)]))
	case "Noise":
		return b.same(kind, t, []string{"noise_param { gaussian_std: 0.1 }", "noise_param { uniform_range: 0.2 bias: 0.1 }"}[b.r.IntN(2)])
	case "ELU":
		return b.same(kind, t, "elu_param { alpha: 0.8 }")
	}
	return b.same(kind, t, "")
}

// product appends an InnerProduct of any shape.
func (b *builder) product(t *tip) *tip {
	axis := 1
	if len(t.shape) > 2 && b.chance(0.1) {
		axis = 2 + b.r.IntN(len(t.shape)-2)
	}
	rows, deep := count(t.shape[:axis]), count(t.shape[axis:])
	most := int(min(4096, b.work/float64(rows*deep+1)))
	if most < 1 {
		return nil
	}
	out, bias, turned := b.outputs(most), b.chance(0.75), b.chance(0.15)
	shape := append(slices.Clone(t.shape[:axis]), out)
	weights := 1
	if bias {
		weights = 2
	}
	param := b.params(weights, fmt.Sprintf("ip_%d_%d_%v_%v", out, deep, bias, turned))
	param += fmt.Sprintf("inner_product_param { num_output: %d ", out)
	if axis != 1 {
		param += fmt.Sprintf("axis: %d ", axis)
	}
	if turned {
		param += "transpose: true "
	}
	if !bias {
		param += "bias_term: false "
	}
	if !turned && !b.smooth && b.chance(0.1) {
		param += "normalize: true "
	}
	return b.one("InnerProduct", t, shape, float64(rows)*float64(deep)*float64(out), param+weightFiller+" "+biasFiller+" }")
}

// several appends a layer on two tips of one shape, or on slices of one tip.
func (b *builder) several(t *tip) *tip {
	alike := func(o *tip) bool { return o != t && slices.Equal(o.shape, t.shape) }
	if other := b.open(alike); other != nil && b.chance(0.7) {
		return b.eltwise(t, other)
	}
	axis := b.r.IntN(len(t.shape))
	if t.shape[axis] < 2 || axis == 0 {
		return nil
	}
	if b.chance(0.15) {
		return b.one("Softmax", t, t.shape, 0, fmt.Sprintf("softmax_param { axis: %d }", axis))
	}
	if b.chance(0.15) && axis == 1 {
		return b.concat(1, t, t)
	}
	cut := 1 + b.r.IntN(t.shape[axis]-1)
	first, second := slices.Clone(t.shape), slices.Clone(t.shape)
	first[axis], second[axis] = cut, t.shape[axis]-cut
	if !b.affords(0, first, second) {
		return nil
	}
	x, y := &tip{name: b.blob(), shape: first}, &tip{name: b.blob(), shape: second}
	b.layer("Slice", []*tip{t}, []*tip{x, y}, fmt.Sprintf("slice_param { axis: %d slice_point: %d }", axis, cut))
	b.tips = append(b.tips, x, y)
	if b.chance(0.5) {
		return b.concat(axis, y, x)
	}
	return y
}

// eltwise appends an Eltwise of any operation.
func (b *builder) eltwise(x, y *tip) *tip {
	param := "eltwise_param { operation: SUM }"
	switch k := b.r.IntN(8); {
	case k == 0:
		param = "eltwise_param { operation: PROD }"
	case k == 1 && !b.smooth:
		param = "eltwise_param { operation: MAX }"
	case k == 2:
		param = "eltwise_param { operation: SUM coeff: 0.5 coeff: -1.5 }"
	case k == 3:
		param = ""
	}
	if !b.affords(0, x.shape) {
		return nil
	}
	out := &tip{name: b.blob(), shape: x.shape}
	b.layer("Eltwise", []*tip{x, y}, []*tip{out}, param)
	b.tips = append(b.tips, out)
	return out
}

// concat concatenates tips along an axis.
func (b *builder) concat(axis int, parts ...*tip) *tip {
	shape := slices.Clone(parts[0].shape)
	shape[axis] = 0
	for _, p := range parts {
		shape[axis] += p.shape[axis]
	}
	if !b.affords(0, shape) {
		return nil
	}
	out := &tip{name: b.blob(), shape: shape}
	b.layer("Concat", parts, []*tip{out}, fmt.Sprintf("concat_param { axis: %d }", axis))
	b.tips = append(b.tips, out)
	return out
}

// selection appends a layer that selects items, vectors or sums of them.
func (b *builder) selection(t *tip) *tip {
	n := t.shape[0]
	switch b.r.IntN(7) {
	case 4:
		if b.force {
			return nil
		}
		return b.filtered(t)
	case 5:
		like := b.input("gauss", t.shape...)
		b.dead("Threshold", like, "threshold_param { threshold: 0.3 }")
		return t
	case 6:
		return b.withConstant(t)
	case 0:
		rows := b.integer(1, 2*n)
		index := b.input(fmt.Sprintf("index%d", n), rows)
		out := &tip{name: b.blob(), shape: append([]int{rows}, t.shape[1:]...)}
		if !b.affords(0, out.shape) {
			return nil
		}
		b.layer("BatchReindex", []*tip{t, index}, []*tip{out}, "")
		b.tips = append(b.tips, out)
		return out
	case 1:
		axis := 1 + b.r.IntN(len(t.shape)-1)
		ops := []string{"SUM", "MEAN", "SUMSQ", "ASUM"}
		op := ops[b.r.IntN(len(ops))]
		if b.smooth && op == "ASUM" {
			op = "SUM"
		}
		return b.one("Reduction", t, t.shape[:axis], 0, fmt.Sprintf("reduction_param { operation: %s axis: %d coeff: 0.7 }", op, axis))
	case 2:
		known, out := b.integer(1, 200), b.integer(1, 100)
		rows := b.integer(1, 64)
		index := b.input(fmt.Sprintf("index%d", known), n, rows)
		return b.one("Embed", index, []int{n, rows, out}, 0, fmt.Sprintf("embed_param { num_output: %d input_dim: %d weight_filler { type: \"gaussian\" std: 1 } %s }", out, known, biasFiller))
	default:
		top := 1 + b.r.IntN(min(3, count(t.shape[1:])))
		return b.dead("ArgMax", t, fmt.Sprintf("argmax_param { top_k: %d out_max_val: %v }", top, b.chance(0.5)))
	}
}

// dead writes a layer without a gradient; its top is an output of the net.
func (b *builder) dead(kind string, t *tip, param string) *tip {
	b.layer(kind, []*tip{t}, []*tip{{name: b.blob()}}, param)
	return t
}

// filtered keeps the items whose flags are not 0. It sums them up, since their number is unknown.
func (b *builder) filtered(t *tip) *tip {
	flags := b.input("flag", t.shape[0])
	kept := &tip{name: b.blob()}
	b.layer("Filter", []*tip{t, flags}, []*tip{kept}, "")
	b.layer("Reduction", []*tip{kept}, []*tip{{name: b.blob()}}, "loss_weight: 0.3 reduction_param { operation: SUMSQ }")
	return t
}

// withConstant adds constants or weights to a tip, or multiplies it by them.
func (b *builder) withConstant(t *tip) *tip {
	other := &tip{name: b.blob(), shape: t.shape}
	if !b.affords(0, t.shape) {
		return nil
	}
	if b.chance(0.5) {
		b.layer("Parameter", nil, []*tip{other}, "parameter_param { shape { "+dims(t.shape)+"} }")
	} else {
		b.layer("DummyData", nil, []*tip{other}, "dummy_data_param { shape { "+dims(t.shape)+"} data_filler { value: 0.4 } }")
	}
	return b.eltwise(t, other)
}
