package export

import (
	"cmp"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// window holds a convolution's numbers for each spatial axis.
type window struct{ kernel, stride, pad, dilation []int }

// readWindow reads fields that the layer has checked. A field is given once, once for each axis, or as _h and _w.
func readWindow(p *caffepb.ConvolutionParameter, axes int) window {
	read := func(all []uint32, h, w *uint32, missing int) []int {
		values := make([]int, axes)
		for i := range values {
			switch {
			case h != nil || w != nil:
				if v := [2]*uint32{h, w}[i]; v != nil {
					values[i] = int(*v)
				}
			case len(all) == 0:
				values[i] = missing
			default:
				values[i] = int(all[min(i, len(all)-1)])
			}
		}
		return values
	}
	return window{
		read(p.GetKernelSize(), p.KernelH, p.KernelW, 1), read(p.GetStride(), p.StrideH, p.StrideW, 1), read(p.GetPad(), p.PadH, p.PadW, 0),
		read(p.GetDilation(), nil, nil, 1),
	}
}

func (w window) attrs(group int) []attr {
	return []attr{
		{"kernel_shape", w.kernel}, {"strides", w.stride}, {"pads", append(slices.Clone(w.pad), w.pad...)}, {"dilations", w.dilation}, {"group", group},
	}
}

// items gives v, a blob whose axis number axis holds channels, the shape items x channels x spatial axes, at least one of them.
func (l *layer) items(v string, b *blob.Blob, axis int) string {
	ds := l.dims(b)
	to := append([]dim{product(ds[:axis])}, ds[axis:]...)
	if len(to) == 2 {
		to = append(to, dim{n: 1})
	}
	return l.reshape(v, ds, to)
}

// fromItems undoes items for the result, a top.
func (l *layer) fromItems(v string, b *blob.Blob, axis int) string {
	ds := l.dims(b)
	from := append([]dim{product(ds[:axis])}, ds[axis:]...)
	if len(from) == 2 {
		from = append(from, dim{n: 1})
	}
	return l.reshape(v, from, ds)
}

// convolution is also ConvolutionDepthwise and DepthwiseConvolution, whose groups are the channels: weights are Out x C/group x Kernel...
func convolution(l *layer) error {
	axis, _ := l.bottom[0].Axis(int(l.p.GetConvolutionParam().GetAxis()))
	return l.convolve("Conv", l.bottom[0].Dim(axis)/l.weights[0].Dim(1))
}

func deconvolution(l *layer) error {
	return l.convolve("ConvTranspose", int(cmp.Or(l.p.GetConvolutionParam().GetGroup(), 1)))
}

// convolve writes one node for each pair of bottom and top. Both operators store their weights as Caffe does.
func (l *layer) convolve(op string, group int) error {
	p := l.p.GetConvolutionParam()
	axis, _ := l.bottom[0].Axis(int(p.GetAxis()))
	spatial := l.bottom[0].NumAxes() - axis - 1
	w := readWindow(p, max(1, spatial))
	dims := slices.Clone(l.weights[0].Shape())
	if spatial == 0 {
		w = window{[]int{1}, []int{1}, []int{0}, []int{1}}
		dims = append(dims[:2:2], 1)
	}
	bias := l.biasOf(1)
	for k := range l.bottom {
		in := []string{l.items(l.in[k], l.bottom[k], axis), l.weight(0, dims...), bias}
		y := l.node(op, in, w.attrs(group)...)
		l.set(k, l.fromItems(y, l.top[k], axis))
	}
	return nil
}

// bias makes an initializer of weight i if the layer has one, or of the bias that folding gave it.
func (l *layer) biasOf(i int) string {
	switch {
	case len(l.weights) > i:
		return l.weight(i)
	case l.fold != nil && l.fold.bias != nil:
		return l.add(&constant{name: l.name + "[1]", dims: []int{len(l.fold.bias)}, floats: l.fold.bias})
	}
	return ""
}

// im2col is a convolution of each channel with kernels that have a single one: output (c, k) is input c at kernel offset k.
func im2col(l *layer) error {
	p := l.p.GetConvolutionParam()
	axis, _ := l.bottom[0].Axis(int(p.GetAxis()))
	w := readWindow(p, l.bottom[0].NumAxes()-axis-1)
	channels, offsets := l.bottom[0].Dim(axis), 1
	for _, k := range w.kernel {
		offsets *= k
	}
	ones := make([]float32, channels*offsets*offsets)
	for i := range channels * offsets {
		ones[i*offsets+i%offsets] = 1
	}
	kernel := l.array("offsets", ones, append([]int{channels * offsets, 1}, w.kernel...)...)
	y := l.node("Conv", []string{l.items(l.in[0], l.bottom[0], axis), kernel}, w.attrs(channels)...)
	l.set(0, l.fromItems(y, l.top[0], axis))
	return nil
}

func lrn(l *layer) error {
	p := l.p.GetLrnParam()
	if p.GetNormRegion() == caffepb.LRNParameter_WITHIN_CHANNEL {
		return l.lrnWithin(p)
	}
	l.set(0, l.node("LRN", l.in, attr{"size", int(p.GetLocalSize())}, attr{"alpha", p.GetAlpha()}, attr{"beta", p.GetBeta()}, attr{"bias", p.GetK()}))
	return nil
}

// lrnWithin writes y = x / (1 + alpha*m)^beta with the mean m of x^2 over a window, whose padding counts.
func (l *layer) lrnWithin(p *caffepb.LRNParameter) error {
	size := int(p.GetLocalSize())
	pad := (size - 1) / 2
	x := l.in[0]
	m := l.node("AveragePool", []string{l.node("Mul", []string{x, x})}, attr{"kernel_shape", []int{size, size}}, attr{"strides", []int{1, 1}},
		attr{"pads", []int{pad, pad, pad, pad}}, attr{"count_include_pad", 1})
	s := l.node("Add", []string{l.node("Mul", []string{m, l.scalar("alpha", p.GetAlpha())}), l.scalar("one", 1)})
	l.set(0, l.node("Mul", []string{x, l.node("Pow", []string{s, l.scalar("exponent", -p.GetBeta())})}))
	return nil
}

// crop is a Slice. The second bottom gives only extents, which are written as numbers.
func crop(l *layer) error {
	p := l.p.GetCropParam()
	axis, _ := l.bottom[0].Axis(int(p.GetAxis()))
	var starts, ends, axes []int
	for i := axis; i < l.bottom[0].NumAxes(); i++ {
		offset := 0
		if n := len(p.GetOffset()); n > 0 {
			offset = int(p.GetOffset()[min(i-axis, n-1)])
		}
		starts, ends, axes = append(starts, offset), append(ends, offset+l.top[0].Dim(i)), append(axes, i)
	}
	l.set(0, l.node("Slice", []string{l.in[0], l.ints("starts", starts...), l.ints("ends", ends...), l.ints("axes", axes...)}))
	return nil
}
