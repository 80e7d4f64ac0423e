package nets

import (
	"fmt"
	"slices"
)

// window is the geometry of a convolution or pooling on one axis.
type window struct{ kernel, stride, pad, dilation int }

// convolved returns the extent of a convolution's result.
func (w window) convolved(in int) int {
	return (in+2*w.pad-(w.dilation*(w.kernel-1)+1))/w.stride + 1
}

// pooled returns the extent of a pooling's result: rounded up, and no window starts in the padding at the end.
func (w window) pooled(in int) int {
	n := (in+2*w.pad-w.kernel+w.stride-1)/w.stride + 1
	if w.pad > 0 && (n-1)*w.stride >= in+w.pad {
		n--
	}
	return n
}

// window draws a geometry for an extent.
func (b *builder) window(in int) window {
	sizes := []int{1, 1, 2, 3, 3, 3, 3, 4, 5, 5, 7, 11}
	w := window{kernel: sizes[b.r.IntN(len(sizes))], stride: 1, dilation: 1}
	if b.chance(0.05) {
		w.kernel = b.integer(1, in)
	}
	if b.chance(0.3) {
		w.stride = 1 + b.r.IntN(4)
	}
	if b.chance(0.12) {
		w.dilation = 1 + b.r.IntN(4)
	}
	w.pad = b.r.IntN(w.kernel/2 + 1)
	if b.chance(0.4) {
		w.pad = w.dilation * (w.kernel - 1) / 2
	}
	for w.dilation > 1 && w.dilation*(w.kernel-1)+1 > in+2*w.pad {
		w.dilation--
	}
	w.kernel = min(w.kernel, in+2*w.pad)
	return w
}

// windows draws the geometries of both axes, usually equal.
func (b *builder) windows(t *tip) (h, w window) {
	h, w = b.window(t.shape[2]), b.window(t.shape[3])
	if b.chance(0.8) && t.shape[3]+2*h.pad >= h.dilation*(h.kernel-1)+1 {
		w = h
	}
	return h, w
}

func geometry(h, w window) string {
	s := fmt.Sprintf("kernel_h: %d kernel_w: %d stride_h: %d stride_w: %d pad_h: %d pad_w: %d ", h.kernel, w.kernel, h.stride, w.stride, h.pad, w.pad)
	if h == w {
		s = fmt.Sprintf("kernel_size: %d stride: %d pad: %d ", h.kernel, h.stride, h.pad)
	}
	if h.dilation != 1 || w.dilation != 1 {
		s += fmt.Sprintf("dilation: %d dilation: %d ", h.dilation, w.dilation)
	}
	return s
}

// conv appends a convolution; out = 0 draws the number of outputs.
func (b *builder) conv(t *tip, h, w window, out, group int) *tip {
	n, c := t.shape[0], t.shape[1]
	if out == 0 {
		out = b.outputs(512)
		if group > 1 {
			out = group * max(1, out/group)
		}
	}
	shape := []int{n, out, h.convolved(t.shape[2]), w.convolved(t.shape[3])}
	bias := b.chance(0.7)
	weights := 1
	if bias {
		weights = 2
	}
	param := b.params(weights, fmt.Sprintf("conv_%d_%d_%d_%d_%d_%v", out, c, h.kernel, w.kernel, group, bias))
	param += fmt.Sprintf("convolution_param { num_output: %d %s", out, geometry(h, w))
	if group > 1 {
		param += fmt.Sprintf("group: %d ", group)
	}
	if !bias {
		param += "bias_term: false "
	}
	param += weightFiller + " " + biasFiller + " }"
	kind := "Convolution"
	if group == c && group > 1 && b.chance(0.5) {
		kind = []string{"ConvolutionDepthwise", "DepthwiseConvolution"}[b.r.IntN(2)]
	}
	return b.one(kind, t, shape, float64(count(shape))*float64(c/group*h.kernel*w.kernel), param)
}

// convolution appends a convolution of any geometry.
func (b *builder) convolution(t *tip) *tip {
	h, w := b.windows(t)
	group, out, c := 1, 0, t.shape[1]
	switch {
	case b.chance(0.1):
		group, out = c, c
		if b.chance(0.2) {
			out *= 2
		}
	case b.chance(0.1):
		for _, g := range []int{2, 3, 4, 8} {
			if c%g == 0 && b.chance(0.6) {
				group = g
			}
		}
	}
	return b.conv(t, h, w, out, group)
}

// deconvolution appends a layer that enlarges images.
func (b *builder) deconvolution(t *tip) *tip {
	h, w := b.windows(t)
	size := func(w window, in int) int { return w.stride*(in-1) + w.dilation*(w.kernel-1) + 1 - 2*w.pad }
	out, group := b.outputs(64), 1
	if b.chance(0.2) {
		out, group = t.shape[1], t.shape[1]
	}
	shape := []int{t.shape[0], out, size(h, t.shape[2]), size(w, t.shape[3])}
	if shape[2] <= 0 || shape[3] <= 0 {
		return nil
	}
	work := float64(count(t.shape)) * float64(out/group*h.kernel*w.kernel)
	return b.one("Deconvolution", t, shape, work, fmt.Sprintf("convolution_param { num_output: %d %sgroup: %d %s %s }", out, geometry(h, w), group, weightFiller, biasFiller))
}

// pooling appends a pooling of any method and window.
func (b *builder) pooling(t *tip) *tip {
	method := []string{"MAX", "MAX", "AVE", "AVE", "STOCHASTIC"}[b.r.IntN(5)]
	if b.smooth {
		method = "AVE"
	}
	if b.chance(0.1) {
		return b.one("Pooling", t, []int{t.shape[0], t.shape[1], 1, 1}, float64(count(t.shape)), fmt.Sprintf("pooling_param { pool: %s global_pooling: true }", method))
	}
	h, w := b.windows(t)
	h.dilation, w.dilation = 1, 1
	if b.chance(0.5) {
		h = window{2 + b.r.IntN(2), 1 + b.r.IntN(3), b.r.IntN(2), 1}
		w = h
	}
	for i, v := range []*window{&h, &w} {
		v.kernel = min(v.kernel, t.shape[2+i])
		v.pad = min(v.pad, v.kernel-1)
		if (v.pooled(t.shape[2+i])-1)*v.stride-v.pad >= t.shape[2+i] {
			v.stride = v.kernel // for a window without values, Caffe's result is -FLT_MAX or NaN
		}
	}
	if method == "STOCHASTIC" {
		h.pad, w.pad = 0, 0
		t = b.same("Sigmoid", t, "") // stochastic pooling needs values that are not negative
		if t == nil {
			return nil
		}
	}
	shape := []int{t.shape[0], t.shape[1], h.pooled(t.shape[2]), w.pooled(t.shape[3])}
	return b.one("Pooling", t, shape, float64(count(shape)*h.kernel*w.kernel), fmt.Sprintf("pooling_param { pool: %s %s}", method, geometry(h, w)))
}

// normal appends a normalisation, a Scale or a Bias.
func (b *builder) normal(t *tip) *tip {
	c := t.shape[1]
	switch b.r.IntN(9) {
	case 0, 1, 2:
		return b.batchNorm(t)
	case 3:
		return b.lrn(t)
	case 4:
		return b.one("MVN", t, t.shape, 0, fmt.Sprintf("mvn_param { normalize_variance: %v across_channels: %v eps: 0.01 }", b.chance(0.7), b.chance(0.5)))
	case 5:
		return b.same("Scale", t, fmt.Sprintf("scale_param { bias_term: %v filler { type: \"gaussian\" mean: 1 std: 0.2 } %s }", b.chance(0.5), biasFiller))
	case 6:
		return b.same("Bias", t, "bias_param { filler { type: \"gaussian\" std: 0.5 } }")
	case 7: // factors from another blob
		factors := b.input("gauss", t.shape[0], c)
		if b.chance(0.5) {
			out := &tip{name: b.blob(), shape: t.shape}
			if !b.affords(0, t.shape) {
				return nil
			}
			if b.chance(0.5) {
				b.layer("Scale", []*tip{t, factors}, []*tip{out}, "scale_param { axis: 0 }")
			} else {
				b.layer("Bias", []*tip{t, factors}, []*tip{out}, "bias_param { axis: 0 }")
			}
			b.tips = append(b.tips, out)
			return out
		}
		b.tips = append(b.tips, factors)
		return factors
	default:
		return b.batchNorm(t)
	}
}

// batchNorm appends a BatchNorm, usually with its usual followers.
func (b *builder) batchNorm(t *tip) *tip {
	param := ""
	switch {
	case b.chance(0.1):
		param = "batch_norm_param { use_global_stats: true }"
	case b.chance(0.1):
		param = []string{"batch_norm_param { scale_bias: true }", "batch_norm_param { use_global_stats: true bias_filler { value: 0.7 } }"}[b.r.IntN(2)]
	case b.chance(0.2):
		param = "batch_norm_param { eps: 0.001 moving_average_fraction: 0.9 }"
	}
	if t = b.same("BatchNorm", t, param); t == nil || b.chance(0.2) {
		return t
	}
	t = b.same("Scale", t, "scale_param { bias_term: true filler { type: \"gaussian\" mean: 1 std: 0.2 } "+biasFiller+" }")
	if t == nil || b.chance(0.3) {
		return t
	}
	return b.neuron(t)
}

func (b *builder) lrn(t *tip) *tip {
	size := []int{3, 5, 5, 7, 9, 1}[b.r.IntN(6)]
	param := fmt.Sprintf("local_size: %d alpha: %g beta: %g k: %d", size, []float64{0.0001, 0.5, 1}[b.r.IntN(3)], []float64{0.75, 0.75, 0.5, 0.3}[b.r.IntN(4)], 1+b.r.IntN(2))
	if b.chance(0.25) {
		param += " norm_region: WITHIN_CHANNEL"
	}
	return b.one("LRN", t, t.shape, float64(count(t.shape)*size), "lrn_param { "+param+" }")
}

// binned reports whether SPP can pool an extent into so many bins: Pooling requires padding smaller than the kernel.
func binned(extent, bins int) bool {
	kernel := (extent + bins - 1) / bins
	return (kernel*bins-extent+1)/2 < kernel
}

// spatial appends a layer that moves or crops images.
func (b *builder) spatial(t *tip) *tip {
	switch {
	case b.chance(0.3):
		return b.detection(t)
	case b.chance(0.6):
		return b.ofForks(t)
	}
	n, c, h, w := t.shape[0], t.shape[1], t.shape[2], t.shape[3]
	switch b.r.IntN(6) {
	case 0: // Crop to a smaller size
		ch, cw := 1+b.r.IntN(h), 1+b.r.IntN(w)
		like := b.input("gauss", n, c, ch, cw)
		out := &tip{name: b.blob(), shape: []int{n, c, ch, cw}}
		if !b.affords(0, out.shape) {
			return nil
		}
		b.layer("Crop", []*tip{t, like}, []*tip{out}, fmt.Sprintf("crop_param { axis: 2 offset: %d offset: %d }", b.r.IntN(h-ch+1), b.r.IntN(w-cw+1)))
		b.tips = append(b.tips, out)
		return out
	case 1:
		tiles, axis := 1+b.r.IntN(3), 1+b.r.IntN(3)
		shape := slices.Clone(t.shape)
		shape[axis] *= tiles
		return b.one("Tile", t, shape, 0, fmt.Sprintf("tile_param { axis: %d tiles: %d }", axis, tiles))
	case 2:
		height := 1
		for height < 3 && binned(h, 1<<height) && binned(w, 1<<height) && b.chance(0.6) {
			height++
		}
		if b.smooth {
			return nil
		}
		shape := []int{n, c, 1, 1} // one level is a Pooling layer's top; several are flattened and concatenated
		if height > 1 {
			shape = []int{n, c * (1<<(2*height) - 1) / 3}
		}
		return b.one("SPP", t, shape, float64(count(t.shape)), fmt.Sprintf("spp_param { pyramid_height: %d }", height))
	case 3:
		hh, ww := b.windows(t)
		shape := []int{n, c * hh.kernel * ww.kernel, hh.convolved(h), ww.convolved(w)}
		return b.one("Im2col", t, shape, 0, "convolution_param { "+geometry(hh, ww)+"}")
	case 4:
		return b.one("Reshape", t, []int{n, h, c, w}, 0, fmt.Sprintf("reshape_param { shape { dim: 0 dim: %d dim: %d dim: -1 } }", h, c))
	default:
		return b.one("Flatten", t, []int{n, c * h * w}, 0, "")
	}
}
