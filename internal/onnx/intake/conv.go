package intake

import (
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/internal/onnx"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// window is a convolution's or pooling's numbers, by spatial axis.
type window struct{ kernel, stride, begin, end, dilation []int }

// window reads the attributes, auto_pad and the padding that waits in v.
func (n *node) window(v *value, kernel []int) (w window, err error) {
	s := len(v.shape) - 2
	if s < 1 {
		return w, fmt.Errorf("input 0 has shape %v, without spatial axes", v.dims())
	}
	ones, zeros := slices.Repeat([]int{1}, s), make([]int, 2*s)
	pads := n.ints("pads", zeros)
	w = window{kernel: n.ints("kernel_shape", kernel), stride: n.ints("strides", ones), dilation: n.ints("dilations", ones)}
	if len(w.kernel) != s || len(w.stride) != s || len(w.dilation) != s || len(pads) != 2*s || kernel != nil && !slices.Equal(kernel, w.kernel) {
		return w, fmt.Errorf("kernel %v, strides %v, dilations %v and pads %v do not fit %d spatial axes", w.kernel, w.stride, w.dilation, pads, s)
	}
	w.begin, w.end = slices.Clone(pads[:s]), slices.Clone(pads[s:])
	for i := range s {
		if w.kernel[i] < 1 || w.stride[i] < 1 || w.dilation[i] < 1 || w.begin[i] < 0 || w.end[i] < 0 {
			return w, fmt.Errorf("kernel %v, strides %v, dilations %v and pads %v: kernel, strides and dilations must be positive, pads not negative", w.kernel, w.stride, w.dilation, pads)
		}
	}
	if err := n.autoPad(&w, v.dims()[2:]); err != nil {
		return w, err
	}
	if v.pad != nil {
		axes := len(v.shape)
		if v.pad[0]+v.pad[1]+v.pad[axes]+v.pad[axes+1] > 0 {
			return w, fmt.Errorf("the padding before it, %v, is not only of spatial axes", v.pad)
		}
		for i := range s {
			w.begin[i] += v.pad[2+i]
			w.end[i] += v.pad[axes+2+i]
		}
	}
	return w, nil
}

// autoPad computes the padding for which the output has ceil(input / stride) values.
func (n *node) autoPad(w *window, in []int) error {
	a := n.attr("auto_pad")
	if a == nil || string(a.GetS()) == "NOTSET" || string(a.GetS()) == "" {
		return nil
	}
	switch mode := string(a.GetS()); mode {
	case "VALID":
		clear(w.begin)
		clear(w.end)
	case "SAME_UPPER", "SAME_LOWER":
		for i, size := range in {
			out := (size + w.stride[i] - 1) / w.stride[i]
			pad := max(0, (out-1)*w.stride[i]+w.dilation[i]*(w.kernel[i]-1)+1-size)
			w.begin[i], w.end[i] = pad/2, pad-pad/2
			if mode == "SAME_LOWER" {
				w.begin[i], w.end[i] = w.end[i], w.begin[i]
			}
		}
	default:
		return fmt.Errorf("auto_pad %q is unknown", mode)
	}
	return nil
}

// symmetric makes the padding equal on both sides. The kernel becomes longer by zeros on the side with less padding, also the kernel of a
// transposed convolution, which then cuts the zeros' outputs off.
func (w *window) symmetric(t *onnx.Tensor) (*onnx.Tensor, error) {
	for i := range w.kernel {
		more := w.begin[i] - w.end[i]
		if more == 0 {
			continue
		}
		if more%w.dilation[i] != 0 {
			return nil, fmt.Errorf("pads %v and %v differ by no multiple of the dilation %v, so that no symmetric padding has the same effect", w.begin, w.end, w.dilation)
		}
		zeros, front := more/w.dilation[i], 0
		if zeros < 0 {
			zeros, front = -zeros, -zeros
		}
		t = lengthen(t, 2+i, zeros, front)
		w.kernel[i] += zeros
		w.begin[i] = max(w.begin[i], w.end[i])
		w.end[i] = w.begin[i]
	}
	return t, nil
}

// lengthen adds zeros along an axis, front of them before the values.
func lengthen(t *onnx.Tensor, axis, zeros, front int) *onnx.Tensor {
	dims := slices.Clone(t.Dims)
	dims[axis] += zeros
	out := floats(make([]float32, count(dims)), dims...)
	row := count(t.Dims[axis:])
	inner := count(t.Dims[axis+1:])
	for o := range len(t.Floats) / max(1, row) {
		copy(out.Floats[o*(row+zeros*inner)+front*inner:], t.Floats[o*row:(o+1)*row])
	}
	return out
}

func list32(list []int) (out []uint32) {
	for _, v := range list {
		out = append(out, uint32(v))
	}
	return out
}

// compact writes a list with one entry if all are equal.
func compact(list []int) []uint32 {
	for _, v := range list {
		if v != list[0] {
			return list32(list)
		}
	}
	return list32(list[:1])
}

func conv(n *node) error { return n.convolve("Convolution", 0) }

func convTranspose(n *node) error { return n.convolve("Deconvolution", 1) }

// transposedPads finds the padding of a ConvTranspose for which its output has the size that output_shape, or an auto_pad of SAME, asks for. A
// negative one at the end is an output_padding.
func (n *node) transposedPads(w *window, in, more []int) error {
	mode, shape := n.text("auto_pad", "NOTSET"), n.ints("output_shape", nil)
	same := mode == "SAME_UPPER" || mode == "SAME_LOWER"
	if shape == nil && !same {
		return nil
	}
	if len(shape) > len(in) {
		shape = shape[len(shape)-len(in):]
	}
	for i := range in {
		size := in[i] * w.stride[i]
		if shape != nil && len(shape) == len(in) {
			size = shape[i]
		} else if shape != nil {
			return fmt.Errorf("output_shape %v for %d spatial axes", shape, len(in))
		}
		total := w.stride[i]*(in[i]-1) + more[i] + w.dilation[i]*(w.kernel[i]-1) + 1 - size
		if size < 1 || -total >= max(w.stride[i], w.dilation[i]) {
			return fmt.Errorf("output_shape %v for an input of %v, strides %v and kernel %v", shape, in, w.stride, w.kernel)
		}
		w.begin[i] = max(0, total) / 2
		if mode != "SAME_UPPER" {
			w.begin[i] = max(0, total) - max(0, total)/2
		}
		w.end[i] = total - w.begin[i]
	}
	return nil
}

// convolve adds a layer whose outputs are on axis outputs of the weights, for each group.
func (n *node) convolve(kind string, outputs int) error {
	v, err := n.image(0)
	if err != nil {
		return err
	}
	t, err := n.weight(1)
	if err != nil {
		return err
	}
	if len(t.Dims) != len(v.shape) || len(t.Floats) == 0 {
		return fmt.Errorf("weights of shape %v for an input of shape %v", t.Dims, v.shape)
	}
	if v.pad != nil && (v.fill != 0 || kind == "Deconvolution") { // Caffe pads with 0; padding of a Deconvolution cuts off
		if v, err = n.settle(v); err != nil {
			return err
		}
	}
	w, err := n.window(v, slices.Clone(t.Dims[2:]))
	if err != nil {
		return err
	}
	if kind == "Deconvolution" {
		more := n.ints("output_padding", make([]int, len(w.end)))
		if len(more) == len(w.end) {
			if err := n.transposedPads(&w, v.shape[2:], more); err != nil {
				return err
			}
		}
		for i := range w.end {
			if len(more) != len(w.end) || more[i] < 0 || more[i] >= max(w.stride[i], w.dilation[i]) {
				return fmt.Errorf("output_padding %v for strides %v and dilations %v", more, w.stride, w.dilation)
			}
			w.end[i] -= more[i]
		}
	}
	if t, err = w.symmetric(t); err != nil {
		return err
	}
	group := n.int("group", 1)
	if group < 1 {
		return fmt.Errorf("group %d", group)
	}
	channels := t.Dims[0]
	if outputs == 1 {
		channels = t.Dims[1] * group
	}
	p := &caffepb.ConvolutionParameter{NumOutput: proto.Uint32(uint32(channels)), KernelSize: compact(w.kernel)}
	if group > 1 {
		p.Group = proto.Uint32(uint32(group))
	}
	setUnless(&p.Stride, w.stride, 1)
	setUnless(&p.Pad, w.begin, 0)
	setUnless(&p.Dilation, w.dilation, 1)
	weights := []*onnx.Tensor{t}
	b, err := n.optional(2)
	switch {
	case err != nil:
		return err
	case b == nil:
		p.BiasTerm = proto.Bool(false)
	default:
		weights = append(weights, b)
	}
	return n.one(kind, &caffepb.LayerParameter{ConvolutionParam: p}, []*value{{blob: v.blob, shape: v.shape}}, weights...)
}

// setUnless sets a repeated field unless all values are the default.
func setUnless(field *[]uint32, list []int, missing int) {
	if slices.ContainsFunc(list, func(v int) bool { return v != missing }) {
		*field = compact(list)
	}
}
