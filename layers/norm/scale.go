package norm

import (
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "Scale", Doc: "y = x * s (+ b), s broadcast along axes; s is a weight or the second bottom",
		Couples: scaledByBatch(func(p *caffepb.LayerParameter) (axis, axes int32, biased bool) {
			return p.GetScaleParam().GetAxis(), p.GetScaleParam().GetNumAxes(), p.GetScaleParam().GetBiasTerm()
		}),
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			s := p.GetScaleParam()
			return &affine{Base: layers.Base{Param: p, Device: d}, scaled: true, biased: s.GetBiasTerm(), axis: int(s.GetAxis()), numAxes: int(s.GetNumAxes())}
		},
		Bottoms: layers.Between(1, 2), Tops: layers.Exactly(1), InPlace: true,
	})
	layers.Register(layers.Type{
		Name: "Bias", Doc: "y = x + b, b broadcast along axes; b is a weight or the second bottom",
		Couples: scaledByBatch(func(p *caffepb.LayerParameter) (axis, axes int32, biased bool) {
			return p.GetBiasParam().GetAxis(), p.GetBiasParam().GetNumAxes(), false
		}),
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			b := p.GetBiasParam()
			return &affine{Base: layers.Base{Param: p, Device: d}, biased: true, axis: int(b.GetAxis()), numAxes: int(b.GetNumAxes())}
		},
		Bottoms: layers.Between(1, 2), Tops: layers.Exactly(1), InPlace: true,
	})
}

// affine is Caffe's Scale and Bias layers: y(o,m,i) = x(o,m,i) * s(m) + b(m). The factor s (for Bias, the summand b) is a weight or the
// second bottom. A Scale layer with bias_term has the bias as its last weight.
type affine struct {
	layers.Base
	scaled, biased bool
	axis, numAxes  int
	fromBottom     bool // the factor or summand is bottom[1]

	dims      [3]int
	axes      int  // of the bottom
	byChannel bool // s and b have one value per channel (axis 1)
	blocked   bool // bottom and top have channels in blocks
	inPlace   bool
	saved     *blob.Blob // a copy of x, if the layer runs in place and Backward needs x

	steps                   part.Steps
	forward, sums, backward *stream.Kernel
	move                    part.Mover // Bias: copies the gradient, unless the layer runs in place
	ins                     [3][]float32
	outs                    [2][]float32
}

func (l *affine) SetUp(bottom, _ []*blob.Blob) error {
	l.fromBottom, l.saved = len(bottom) > 1, l.Device.NewBlob(0)
	if !l.fromBottom {
		first, end, err := l.span(bottom[0])
		if err != nil {
			return err
		}
		filler := l.Param.GetBiasParam().GetFiller()
		if l.scaled {
			filler = l.Param.GetScaleParam().GetFiller()
			if filler == nil {
				one := float32(1)
				filler = &caffepb.FillerParameter{Value: &one}
			}
		}
		if err := l.AddWeight(filler, bottom[0].Shape()[first:end]...); err != nil {
			return err
		}
	}
	if l.scaled && l.biased {
		shape := l.operandShape(bottom)
		return l.AddWeight(l.Param.GetScaleParam().GetBiasFiller(), shape...)
	}
	return nil
}

func (l *affine) operandShape(bottom []*blob.Blob) []int {
	if l.fromBottom {
		return bottom[1].Shape()
	}
	return l.Weights[0].Shape()
}

// span returns the range of the bottom's axes that a weight covers.
func (l *affine) span(b *blob.Blob) (first, end int, err error) {
	first, ok := b.Axis(l.axis)
	if !ok && !(l.axis == 0 && b.NumAxes() == 0) {
		return 0, 0, fmt.Errorf("axis %d is out of range: bottom[0] has shape %s", l.axis, b.ShapeString())
	}
	if l.numAxes < -1 {
		return 0, 0, fmt.Errorf("num_axes must be -1 or more, it is %d", l.numAxes)
	}
	end = b.NumAxes()
	if l.numAxes >= 0 {
		end = first + l.numAxes
	}
	if end > b.NumAxes() {
		return 0, 0, fmt.Errorf("the %d axes from axis %d on extend past the shape of bottom[0], %s", l.numAxes, l.axis, b.ShapeString())
	}
	return first, end, nil
}

func (l *affine) Reshape(bottom, top []*blob.Blob) error {
	shape := l.operandShape(bottom)
	first, ok := bottom[0].Axis(l.axis)
	if len(shape) == 0 {
		first, ok = 0, true
	}
	if !ok || first+len(shape) > bottom[0].NumAxes() {
		return fmt.Errorf("the operand's shape %v, starting with axis %d, extends past bottom[0]'s %s", shape, l.axis, bottom[0].ShapeString())
	}
	for i, d := range shape {
		if bottom[0].Dim(first+i) != d {
			return fmt.Errorf("dimension mismatch between bottom[0]'s axis %d (%s) and the operand's axis %d (%v)", first+i, bottom[0].ShapeString(), i, shape)
		}
	}
	dims := [3]int{bottom[0].CountRange(0, first), bottom[0].CountRange(first, first+len(shape)), bottom[0].CountFrom(first + len(shape))}
	if l.inPlace = top[0] == bottom[0]; !l.inPlace {
		top[0].ReshapeLike(bottom[0])
	} else if l.scaled {
		l.saved.ReshapeLike(bottom[0])
	}
	l.axes, l.byChannel = bottom[0].NumAxes(), first == 1 && len(shape) == 1
	if err := l.InBlocks(l.axes, dims).Check(layers.Arranged{In: layers.Blocks(l.blocked), Out: layers.Blocks(l.blocked)}); err != nil || dims == l.dims {
		return err
	}
	l.dims = dims
	if l.MPE() {
		return nil
	}
	return l.prepare()
}

// operands returns s and b, nil if absent.
func (l *affine) operands(bottom []*blob.Blob) (s, b []float32) {
	first := func() []float32 {
		if l.fromBottom {
			return bottom[1].Values()
		}
		return l.Weights[0].Values()
	}
	switch {
	case l.scaled && l.biased:
		return first(), l.Weights[len(l.Weights)-1].Values()
	case l.scaled:
		return first(), nil
	}
	return nil, first()
}

func (l *affine) Forward(bottom, top []*blob.Blob) error {
	x, y := bottom[0].Data(), top[0].Data()
	s, b := l.operands(bottom)
	if l.MPE() {
		if l.scaled && l.inPlace {
			copy(l.saved.Data(), x)
		}
		for i := range x {
			m, v := i/l.dims[2]%l.dims[1], x[i]
			if s != nil {
				v *= s[m]
			}
			if b != nil {
				v += b[m]
			}
			y[i] = v
		}
		return nil
	}
	ins := append(l.ins[:0], x)
	if l.scaled {
		ins = append(ins, s)
	}
	if l.biased {
		ins = append(ins, b)
	}
	outs := append(l.outs[:0], y)
	if l.scaled && l.inPlace {
		outs = append(outs, l.saved.Data())
	}
	l.steps.To(y)
	return l.forward.Run(ins, outs)
}

// scaledByBatch is the rule of Scale and Bias. A weight along axis 0 has a value for every item. A second bottom must lie along axis 0, as its items do.
func scaledByBatch(of func(*caffepb.LayerParameter) (axis, axes int32, biased bool)) layers.CouplingRule {
	return func(p *caffepb.LayerParameter, bottoms [][]int) layers.Coupling {
		axis, axes, biased := of(p)
		first := axis == 0 || int(axis) == -len(bottoms[0])
		switch {
		case len(bottoms) == 1 && axes == 0: // one value for all
		case first && (len(bottoms) == 1 || biased):
			return layers.Coupling{Kind: layers.Moves, Why: "has weights for every item of the batch"}
		case !first && len(bottoms) > 1 && bottoms[1] != nil:
			return layers.Coupling{Kind: layers.Moves, Why: "takes the items of its second bottom for values of another axis"}
		}
		return layers.Coupling{}
	}
}
