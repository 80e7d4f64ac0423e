package export

import (
	"cmp"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	swproto "github.com/swcaffe/swcaffe/proto"
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
		read(swproto.Dilation(p), nil, nil, 1),
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
	rounded, err := l.quantised(0, dims, false)
	if err != nil {
		return err
	}
	kernel, bias := rounded.weights, l.biasOf(1)
	if kernel == "" {
		kernel = l.kernel(op, &w, dims)
	}
	for k := range l.bottom {
		in := []string{l.items(rounded.input(l, l.in[k]), l.bottom[k], axis), kernel, bias}
		y := l.node(op, in, w.attrs(group)...)
		if op == "ConvTranspose" && group > 1 && l.scaled() {
			y = l.apart(y, l.top[k])
		}
		l.set(k, l.fromItems(y, l.top[k], axis))
	}
	return nil
}

// scaled reports whether the layer that reads the top multiplies it with constants.
func (l *layer) scaled() bool {
	i := l.index
	if l.fold != nil {
		i = l.fold.by
	}
	j := l.reader(i)
	return j >= 0 && scaling[l.net.LayerType(j)]
}

// apart gives a value of a blob's shape one spatial axis, and its own again. OpenCV up to 4.12 merges a ConvTranspose of several groups with a
// product of its result in a wrong way, and nothing with a Reshape.
func (l *layer) apart(v string, b *blob.Blob) string {
	ds := l.dims(b)
	rows := []dim{ds[0], ds[1], product(ds[2:])}
	return l.reshape(l.reshape(v, ds, rows), rows, ds)
}

// kernel makes an initializer of the weights, of extents dims. OpenCV up to 4.12 ignores the dilation of a ConvTranspose, so that its kernel gets
// zeros between its values instead. To a kernel of one value the dilation means nothing; with 2 OpenCV takes the padding of such a kernel into
// account, which it otherwise overlooks.
func (l *layer) kernel(op string, w *window, dims []int) string {
	large := func(v int) bool { return v > 1 }
	switch {
	case op == "Conv":
		return l.weight(0, dims...)
	case !slices.ContainsFunc(w.kernel, large):
		w.dilation = slices.Repeat([]int{2}, len(w.kernel))
		return l.weight(0, dims...)
	case !slices.ContainsFunc(w.dilation, large):
		return l.weight(0, dims...)
	}
	kernel, places := spread(w)
	data, size := l.weightData(0), product(known(kernel...)).n
	values := make([]float32, len(data)/len(places)*size)
	for i, v := range data {
		values[i/len(places)*size+places[i%len(places)]] = v
	}
	w.kernel, w.dilation = kernel, slices.Repeat([]int{1}, len(kernel))
	return l.add(&constant{name: l.name + "[0]", dims: append(slices.Clone(dims[:2]), kernel...), floats: values})
}

// Compact returns the weights of a layer of which a model holds kernels with zeros between the values, or nil if the model's do not fit.
func Compact(p *caffepb.LayerParameter, weights *blob.Blob, stored []float32) []float32 {
	if p.GetType() != "Deconvolution" || weights.NumAxes() < 3 {
		return nil
	}
	w := readWindow(p.GetConvolutionParam(), weights.NumAxes()-2)
	kernel, places := spread(&w)
	size := product(known(kernel...)).n
	if len(stored)*len(places) != weights.Count()*size {
		return nil
	}
	values := make([]float32, weights.Count())
	for i := range values {
		values[i] = stored[i/len(places)*size+places[i%len(places)]]
	}
	return values
}

// spread returns the extents of a kernel with its dilation, and the places of the kernel's values in it.
func spread(w *window) (extents, places []int) {
	places = []int{0}
	for i, k := range w.kernel {
		extent := w.dilation[i]*(k-1) + 1
		var next []int
		for _, at := range places {
			for j := range k {
				next = append(next, at*extent+j*w.dilation[i])
			}
		}
		extents, places = append(extents, extent), next
	}
	return extents, places
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
	squares := l.padded(l.node("Mul", []string{x, x}), []int{pad, pad}, []int{pad, pad})
	m := l.node("AveragePool", []string{squares}, attr{"kernel_shape", []int{size, size}}, attr{"strides", []int{1, 1}})
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
