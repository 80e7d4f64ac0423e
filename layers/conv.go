package layers

import (
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	Register(Type{
		Name: "Convolution", Doc: "convolves N x C x In... with num_output filters; several bottoms share the weights",
		New: func(p *caffepb.LayerParameter, d *Device) Layer {
			return &convolution{Base: Base{Param: p, Device: d}}
		},
		Bottoms: AtLeast(1), Tops: AtLeast(1), EqualBlobs: true,
	})
	Register(Type{
		Name: "Deconvolution", Doc: "the transpose of a convolution: what Convolution does backward, this does forward",
		New: func(p *caffepb.LayerParameter, d *Device) Layer {
			return &convolution{Base: Base{Param: p, Device: d}, transposed: true}
		},
		Bottoms: AtLeast(1), Tops: AtLeast(1), EqualBlobs: true,
	})
}

// convolution is Caffe's Convolution and Deconvolution layer. Its weights are Out x C/group x Kernel... for a convolution
// and C x Out/group x Kernel... for a deconvolution, which is a convolution from its tops to its bottoms.
type convolution struct {
	Base
	transposed bool

	axis                          int // of the channels
	out, group                    int
	kernel, stride, pad, dilation []int
	bias                          bool

	shape    kernel.ConvShape // of the convolution, whichever way it runs
	conv     *kernel.Conv
	addBias  *kernel.StreamKernel // deconvolution: top += bias
	sumBias  *kernel.StreamKernel // bias gradient
	biasIns  [2][]float32
	biasOuts [1][]float32
}

func (l *convolution) SetUp(bottom, _ []*blob.Blob) error {
	p := l.Param.GetConvolutionParam()
	axis, ok := bottom[0].Axis(int(p.GetAxis()))
	if !ok {
		return fmt.Errorf("axis %d is out of range: bottom[0] has shape %s", p.GetAxis(), bottom[0].ShapeString())
	}
	l.axis = axis
	spatial := bottom[0].NumAxes() - axis - 1
	if spatial < 1 {
		return fmt.Errorf("bottom[0] with shape %s has no spatial axis behind axis %d", bottom[0].ShapeString(), axis)
	}
	if err := l.readSpatial(p, spatial); err != nil {
		return err
	}
	l.out, l.group = int(p.GetNumOutput()), int(p.GetGroup())
	channels := bottom[0].Dim(axis)
	switch {
	case l.out < 1:
		return fmt.Errorf("num_output must be positive, it is %d", l.out)
	case l.group < 1:
		return fmt.Errorf("group must be positive, it is %d", l.group)
	case channels%l.group != 0:
		return fmt.Errorf("the bottom's %d channels are not a multiple of group %d", channels, l.group)
	case l.out%l.group != 0:
		return fmt.Errorf("num_output %d is not a multiple of group %d", l.out, l.group)
	}
	weights := []int{l.out, channels / l.group}
	if l.transposed {
		weights = []int{channels, l.out / l.group}
	}
	if err := l.addWeight(p.GetWeightFiller(), append(weights, l.kernel...)...); err != nil {
		return err
	}
	if l.bias = p.GetBiasTerm(); l.bias {
		return l.addWeight(p.GetBiasFiller(), l.out)
	}
	return nil
}

// readSpatial reads kernel, stride, pad and dilation, which may stand once for all axes, once an axis, or for two axes in
// _h and _w fields.
func (l *convolution) readSpatial(p *caffepb.ConvolutionParameter, axes int) (err error) {
	if l.kernel, err = spatialParam("kernel", axes, p.KernelSize, p.KernelH, p.KernelW, 0); err != nil {
		return err
	}
	if l.stride, err = spatialParam("stride", axes, p.Stride, p.StrideH, p.StrideW, 1); err != nil {
		return err
	}
	if l.pad, err = spatialParam("pad", axes, p.Pad, p.PadH, p.PadW, 0); err != nil {
		return err
	}
	if l.dilation, err = spatialParam("dilation", axes, p.Dilation, nil, nil, 1); err != nil {
		return err
	}
	for i := range axes {
		if l.kernel[i] < 1 {
			return fmt.Errorf("kernel dimensions must be positive, axis %d has %d", i, l.kernel[i])
		}
		if l.stride[i] < 1 {
			return fmt.Errorf("stride dimensions must be positive, axis %d has %d", i, l.stride[i])
		}
		if l.dilation[i] < 1 {
			return fmt.Errorf("dilation must be positive, axis %d has %d", i, l.dilation[i])
		}
	}
	return nil
}

// spatialParam gives every axis its value of a field.
func spatialParam(name string, axes int, all []uint32, h, w *uint32, missing int) ([]int, error) {
	values := make([]int, axes)
	if h != nil || w != nil {
		if axes != 2 {
			return nil, fmt.Errorf("%s_h and %s_w are for 2 spatial axes, there are %d", name, name, axes)
		}
		if len(all) > 0 {
			return nil, fmt.Errorf("either %s_size or %s_h/%s_w may be specified, not both", name, name, name)
		}
		for i, v := range []*uint32{h, w} {
			values[i] = missing
			if v != nil {
				values[i] = int(*v)
			}
		}
		return values, nil
	}
	if n := len(all); n > 1 && n != axes {
		return nil, fmt.Errorf("%s must be specified once, or once per spatial dimension: %d times for %d axes", name, n, axes)
	}
	for i := range values {
		switch len(all) {
		case 0:
			values[i] = missing
		case 1:
			values[i] = int(all[0])
		default:
			values[i] = int(all[i])
		}
	}
	return values, nil
}

func (l *convolution) Reshape(bottom, top []*blob.Blob) error {
	in := bottom[0].Shape()
	weights := l.params[0].Shape()
	channels := weights[1] * l.group
	if l.transposed {
		channels = weights[0]
	}
	if bottom[0].NumAxes() != l.axis+1+len(l.kernel) || in[l.axis] != channels {
		return fmt.Errorf("bottom[0] has shape %s, the weights %s fit %d channels and %d spatial axes", bottom[0].ShapeString(), l.params[0].ShapeString(), channels, len(l.kernel))
	}
	for i, b := range bottom[1:] {
		if b.ShapeString() != bottom[0].ShapeString() {
			return fmt.Errorf("all bottoms must have the same shape: bottom[0] has %s, bottom[%d] %s", bottom[0].ShapeString(), i+1, b.ShapeString())
		}
	}
	shape := kernel.ConvShape{
		N: bottom[0].CountRange(0, l.axis), C: channels, Out: l.out, Group: l.group,
		In: in[l.axis+1:], Kernel: l.kernel, Stride: l.stride, Pad: l.pad, Dilation: l.dilation,
	}
	size := shape.OutSize()
	if l.transposed {
		size = make([]int, len(l.kernel))
		for i := range size {
			size[i] = l.stride[i]*(shape.In[i]-1) + l.dilation[i]*(l.kernel[i]-1) + 1 - 2*l.pad[i]
		}
		shape.In, shape.C, shape.Out = size, l.out, channels
	}
	for i, s := range size {
		if s < 1 {
			return fmt.Errorf("spatial axis %d: kernel %d (dilation %d) is too large for the input's %d with padding %d: the output's size would be %d",
				i, l.kernel[i], l.dilation[i], in[l.axis+1+i], l.pad[i], s)
		}
	}
	for _, t := range top {
		t.Reshape(append(append(append([]int(nil), in[:l.axis]...), l.out), size...)...)
	}
	if l.mpe() {
		l.shape = shape
		return nil
	}
	return l.prepare(shape, top[0])
}

// prepare makes the kernels of the CPE path where the shape has changed.
func (l *convolution) prepare(shape kernel.ConvShape, top *blob.Blob) (err error) {
	if l.conv != nil && shape.String() == l.shape.String() {
		return nil
	}
	shape.In = append([]int(nil), shape.In...)
	l.shape = shape
	if l.conv, err = kernel.NewConv(l.Device.Machine, shape, kernel.Auto); err != nil || !l.bias {
		return err
	}
	dims := [3]int{shape.N, l.out, top.CountFrom(l.axis + 1)}
	if l.addBias, err = newAddBias(l.Device, dims); err != nil {
		return err
	}
	l.sumBias, err = newChannelSum(l.Device, dims)
	return err
}

func (l *convolution) Forward(bottom, top []*blob.Blob) error {
	var bias []float32
	if l.bias {
		bias = l.params[1].Data()
	}
	for i := range bottom {
		x, y, w := bottom[i].Data(), top[i].Data(), l.params[0].Data()
		switch {
		case l.mpe():
			l.forwardMPE(x, w, bias, y)
		case !l.transposed:
			if err := l.conv.Forward(x, w, bias, y); err != nil {
				return err
			}
		default:
			if err := l.conv.InputGrad(x, w, y); err != nil {
				return err
			}
			if bias == nil {
				continue
			}
			l.biasIns, l.biasOuts[0] = [2][]float32{y, bias}, y
			if err := l.addBias.Run(l.biasIns[:], l.biasOuts[:]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *convolution) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	for i := range top {
		if l.bias && l.paramGrad(1) {
			if err := l.biasGrad(top[i].Diff(), l.params[1].Diff()); err != nil {
				return err
			}
		}
		if l.paramGrad(0) {
			if err := l.weightGrad(bottom[i].Data(), top[i].Diff()); err != nil {
				return err
			}
		}
		if propagateDown[i] {
			if err := l.inputGrad(top[i].Diff(), bottom[i].Diff()); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *convolution) biasGrad(dy, db []float32) error {
	if l.mpe() {
		addChannelSums(db, dy, len(dy)/l.shape.N/l.out)
		return nil
	}
	l.biasIns[0] = dy
	if err := l.sumBias.Run(l.biasIns[:1], nil); err != nil {
		return err
	}
	for i, s := range l.sumBias.Sums() {
		db[i] += float32(s)
	}
	return nil
}

func (l *convolution) weightGrad(x, dy []float32) error {
	dw := l.params[0].Diff()
	if l.transposed {
		x, dy = dy, x
	}
	if l.mpe() {
		convWeightGradMPE(&l.shape, x, dy, dw)
		return nil
	}
	return l.conv.WeightGrad(x, dy, dw)
}

func (l *convolution) inputGrad(dy, dx []float32) error {
	w := l.params[0].Data()
	switch {
	case l.mpe() && l.transposed:
		convForwardMPE(&l.shape, dy, w, nil, dx)
	case l.mpe():
		convInputGradMPE(&l.shape, dy, w, dx)
	case l.transposed:
		return l.conv.Forward(dy, w, nil, dx)
	default:
		return l.conv.InputGrad(dy, w, dx)
	}
	return nil
}
