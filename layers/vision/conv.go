package vision

import (
	"errors"
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv/plan"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/quant"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	for _, name := range []string{"ConvolutionDepthwise", "DepthwiseConvolution"} {
		layers.Register(layers.Type{
			Name: name, Doc: "a Convolution with as many groups as channels",
			Params: []string{"convolution_param"}, Precisions: cpe.Precisions,
			New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
				return &convolution{Base: layers.Base{Param: p, Device: d}, depthwise: true}
			},
			Bottoms: layers.AtLeast(1), Tops: layers.AtLeast(1), EqualBlobs: true,
		})
	}
	layers.Register(layers.Type{
		Name: "Convolution", Doc: "convolves N x C x In... with num_output filters; several bottoms share the weights", Precisions: cpe.Precisions,
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &convolution{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.AtLeast(1), Tops: layers.AtLeast(1), EqualBlobs: true,
	})
	layers.Register(layers.Type{
		Name: "Deconvolution", Doc: "the transpose of a convolution: its Forward is the input gradient of Convolution",
		Params: []string{"convolution_param"}, Precisions: []string{cpe.BF16},
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &convolution{Base: layers.Base{Param: p, Device: d}, transposed: true}
		},
		Bottoms: layers.AtLeast(1), Tops: layers.AtLeast(1), EqualBlobs: true,
	})
}

// convolution is Caffe's Convolution and Deconvolution layer, and the depthwise convolution of MobileNet's forks. A deconvolution is a
// convolution from its tops to its bottoms. Weights are Out x C/group x Kernel... for a convolution and C x Out/group x Kernel... for a deconvolution.
type convolution struct {
	layers.Base
	spatialWindow
	transposed bool
	depthwise  bool // group is the number of channels

	axis       int // the channel axis
	spatial    int // number of axes after axis; with none, an item is an image of one pixel
	out, group int
	bias       bool

	bottomShape []int // the bottom shape the plan was made for
	topShape    []int
	shape       shape.Conv // the convolution, from tops to bottoms for a deconvolution

	conv     *plan.Conv
	arranged layers.Arranged
	addBias  part.BiasAdder // used by deconvolutions
	biasGrad part.BiasGrad
	blocked  [2]bool // bottoms and tops have channels in blocks

	steps  part.Steps
	fixed  part.Fixed    // what Forward multiplies with
	scales *quant.Scales // of Forward in INT8, else nil
}

func (l *convolution) SetUp(bottom, _ []*blob.Blob) error {
	p := l.Param.GetConvolutionParam()
	if p == nil {
		return errors.New("convolution_param is missing")
	}
	axis, err := part.AxisOf(bottom[0], int(p.GetAxis()))
	if err != nil {
		return err
	}
	l.axis = axis
	l.spatial = bottom[0].NumAxes() - axis - 1
	if l.spatialWindow, err = readWindow(p, l.spatial); err != nil {
		return err
	}
	l.out, l.group = int(p.GetNumOutput()), int(p.GetGroup())
	channels := bottom[0].Dim(axis)
	if l.depthwise {
		if p.Group != nil && l.group != channels {
			return fmt.Errorf("group %d is not the number of the bottom's channels, %d, which a %s layer uses", l.group, channels, l.Param.GetType())
		}
		l.group = channels
	}
	switch {
	case l.out < 1:
		return fmt.Errorf("num_output must be positive, it is %d", l.out)
	case channels == 0:
		return fmt.Errorf("bottom[0] has no channels: its shape is %s", bottom[0].ShapeString())
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
	if err := l.AddWeight(p.GetWeightFiller(), append(weights, l.kernel...)...); err != nil {
		return err
	}
	if l.scales, err = part.ReadScales(&l.Base, l.Param.GetQuantizationParam(), l.out, blob.CountOf(l.Weights[0].Shape()[1:]...)); err != nil {
		return err
	}
	if l.spatial == 0 {
		l.spatialWindow = onePixel
	}
	if l.bias = p.GetBiasTerm(); l.bias {
		return l.AddWeight(p.GetBiasFiller(), l.out)
	}
	return nil
}

func (l *convolution) Reshape(bottom, top []*blob.Blob) error {
	if err := part.CheckSameShape(bottom); err != nil {
		return err
	}
	changed := !slices.Equal(l.bottomShape, bottom[0].Shape())
	if changed {
		if err := l.plan(bottom[0]); err != nil {
			return err
		}
	}
	for _, t := range top {
		t.Reshape(l.topShape...)
	}
	if changed {
		if err := l.prepare(); err != nil {
			return err
		}
	}
	l.bottomShape = append(l.bottomShape[:0], bottom[0].Shape()...)
	return nil
}

// plan computes the convolution's shape and the tops' shape from the bottoms' shape.
func (l *convolution) plan(bottom *blob.Blob) error {
	in, weights := bottom.Shape(), l.Weights[0].Shape()
	channels := weights[1] * l.group
	if l.transposed {
		channels = weights[0]
	}
	if len(in) != l.axis+1+l.spatial || in[l.axis] != channels {
		return fmt.Errorf("bottom[0] has shape %s, but the weights %s need %d channels and %d spatial axes",
			bottom.ShapeString(), l.Weights[0].ShapeString(), channels, l.spatial)
	}
	problem := shape.Conv{
		N: bottom.CountRange(0, l.axis), C: channels, Out: l.out, Group: l.group,
		In: slices.Clone(in[l.axis+1:]), Kernel: l.kernel, Stride: l.stride, Pad: l.pad, Dilation: l.dilation,
	}
	if l.spatial == 0 {
		problem.In = []int{1}
	}
	size := problem.OutSize()
	if l.transposed {
		for i, n := range problem.In {
			size[i] = l.stride[i]*(n-1) + l.dilation[i]*(l.kernel[i]-1) + 1 - 2*l.pad[i]
		}
		problem.In, problem.C, problem.Out = size, l.out, channels
	}
	for i, s := range size {
		switch n := in[l.axis+1:]; {
		case i < l.spatial && n[i] < 1:
			return fmt.Errorf("spatial axis %d of bottom[0] is empty: its shape is %s", i, bottom.ShapeString())
		case s < 1:
			return l.tooLarge(i, n[i], s)
		}
	}
	l.shape, l.topShape = problem, append(append(slices.Clone(in[:l.axis]), l.out), size[:l.spatial]...)
	return l.Device.CheckShape("a top", l.topShape)
}

// prepare makes the kernels. Reshape has shaped the tops before.
func (l *convolution) prepare() (err error) {
	switch before := l.conv; {
	case l.MPE():
	case l.blocked != [2]bool{}:
		l.conv, err = before.ForShape(l.shape)
	case l.Device.Tuner != nil && l.types() != op.Quantised:
		l.conv, err = plan.NewTuned(l.Device.Machine, l.shape, l.types(), l.Device.Tuner)
	default:
		l.conv, err = plan.NewIn(l.Device.Machine, l.shape, l.Device.Force, l.types(), l.scales)
	}
	if err != nil || !l.bias {
		return err
	}
	if l.transposed {
		if l.addBias, err = part.NewBiasAdder(&l.Base, l.topDims()); err != nil {
			return err
		}
	}
	return l.prepareBiasGrad()
}

func (l *convolution) prepareBiasGrad() (err error) {
	l.biasGrad, err = part.NewBiasGrad(&l.Base, l.topDims(), l.blocked[1])
	return err
}

// types are the number types of the products.
func (l *convolution) types() op.Types { return part.Types(&l.Base, l.scales) }

// topDims returns a top's shape as images x channels x values per channel.
func (l *convolution) topDims() [3]int {
	return [3]int{l.shape.N, l.out, blob.CountOf(l.topShape[l.axis+1:]...)}
}

// scratch returns the kernels' scratch sizes.
func (l *convolution) scratch() (s layers.Scratch) {
	if s.Forward = l.conv.Scratch(l.direction(shape.Forward)); l.parted() {
		s.Params, s.Bottoms = l.conv.Scratch(shape.WeightGradient), l.conv.Scratch(l.direction(shape.InputGradient))
		return s
	}
	s.Bottoms = l.conv.GradsScratch()
	return s
}

func (l *convolution) Forward(bottom, top []*blob.Blob) error {
	k := l.keeper()
	w, bias, fixed, err := l.operands(k)
	defer l.fixed.Settle(k)
	for i := range bottom {
		if err == nil {
			err = l.forward(conv.Arrays{X: bottom[i].Data(), W: w, Bias: bias, Y: top[i].Data(), Fixed: fixed}, top[i])
		}
	}
	return err
}

// forward computes one top from one bottom, with the steps. A deconvolution adds its biases in a separate pass.
func (l *convolution) forward(a conv.Arrays, top *blob.Blob) error {
	switch {
	case l.MPE() && l.scales != nil:
		convQuantisedMPE(&l.shape, l.scales, a.X, a.W, a.Bias, a.Y)
		return nil
	case !l.transposed && l.MPE():
		convForwardMPE(&l.shape, a.X, a.W, a.Bias, a.Y)
		return nil
	case !l.transposed:
		a.Floor, a.Finish = l.steps.Hold()
		a.Single, a.Beside = !l.steps.ByChannel(), l.steps.Beside(l.arranged.Out.Rounded)
		return l.conv.Run(shape.Forward, a)
	case l.MPE():
		convInputGradMPE(&l.shape, a.X, a.W, a.Y)
	default:
		if err := l.conv.Run(shape.InputGradient, conv.Arrays{DY: a.X, W: a.W, DX: a.Y, Fixed: a.Fixed}); err != nil {
			return err
		}
	}
	switch {
	case !l.steps.Empty():
		return l.steps.Run(&l.Base, top, a.Bias)
	case a.Bias == nil:
		return nil
	}
	return l.addBias.Run(a.Y, a.Bias)
}
