package export

import (
	"math"

	"github.com/swcaffe/swcaffe/internal/onnx/onnxpb"
	"google.golang.org/protobuf/proto"
)

func relu(l *layer) error {
	if slope := l.p.GetReluParam().GetNegativeSlope(); slope != 0 {
		l.set(0, l.node("LeakyRelu", l.in, attr{"alpha", slope}))
		return nil
	}
	l.set(0, l.node("Relu", l.in))
	return nil
}

// prelu gives the slopes an axis of extent 1 for each axis after the channels, since ONNX aligns shapes at the end.
func prelu(l *layer) error {
	dims := []int{l.weights[0].Count()}
	for range l.bottom[0].NumAxes() - 2 {
		dims = append(dims, 1)
	}
	l.set(0, l.node("PRelu", []string{l.in[0], l.weight(0, dims...)}))
	return nil
}

func elu(l *layer) error {
	l.set(0, l.node("Elu", l.in, attr{"alpha", l.p.GetEluParam().GetAlpha()}))
	return nil
}

func swish(l *layer) error {
	x := l.times(l.in[0], "beta", l.p.GetSwishParam().GetBeta())
	l.set(0, l.node("Mul", []string{l.in[0], l.node("Sigmoid", []string{x})}))
	return nil
}

// clip: if min > max, every value becomes min.
func clip(l *layer) error {
	lo, hi := l.p.GetClipParam().GetMin(), l.p.GetClipParam().GetMax()
	l.set(0, l.clip(l.in[0], lo, max(lo, hi)))
	return nil
}

// clip writes a Clip, which needs its bounds as constants without axes.
func (l *layer) clip(v string, lo, hi float32) string {
	bound := func(what string, v float32) string {
		return l.add(&constant{name: l.name + "/" + what, dims: []int{}, floats: []float32{v}})
	}
	return l.node("Clip", []string{v, bound("min", lo), bound("max", hi)})
}

// times and plus leave out a product with 1 and a sum with 0.
func (l *layer) times(v, what string, factor float32) string {
	if factor == 1 {
		return v
	}
	return l.node("Mul", []string{v, l.scalar(what, factor)})
}

func (l *layer) plus(v, what string, shift float32) string {
	if shift == 0 {
		return v
	}
	return l.node("Add", []string{v, l.scalar(what, shift)})
}

// power is (shift + scale*x)^power. With power or scale 0 the top does not depend on x.
func power(l *layer) error {
	p := l.p.GetPowerParam()
	if p.GetPower()*p.GetScale() == 0 {
		l.set(0, l.filled(l.in[0], float32(math.Pow(float64(p.GetShift()), float64(p.GetPower())))))
		return nil
	}
	y := l.plus(l.times(l.in[0], "scale", p.GetScale()), "shift", p.GetShift())
	switch e := p.GetPower(); e {
	case 1:
	case 2:
		y = l.node("Mul", []string{y, y})
	default:
		y = l.node("Pow", []string{y, l.scalar("power", e)})
	}
	l.set(0, y)
	return nil
}

// filled makes a value of v's shape.
func (l *layer) filled(v string, value float32) string {
	return l.fill(l.node("Shape", []string{v}), value)
}

// fill makes a value of a shape that is itself a value.
func (l *layer) fill(shape string, value float32) string {
	t := (&constant{dims: []int{1}, floats: []float32{value}}).proto()
	t.Name = nil
	y := l.node("ConstantOfShape", []string{shape})
	node := l.graph.Node[len(l.graph.Node)-1]
	node.Attribute = append(node.Attribute, &onnxpb.AttributeProto{Name: proto.String("value"), Type: onnxpb.AttributeProto_TENSOR.Enum(), T: t})
	return y
}

// exponential is base^(shift + scale*x) = base^shift * exp(ln(base)*scale*x), the form in which Caffe computes it.
func exponential(l *layer) error {
	p := l.p.GetExpParam()
	ln := lnBase(p.GetBase())
	y := l.node("Exp", []string{l.times(l.in[0], "scale", float32(ln*float64(p.GetScale())))})
	l.set(0, l.times(y, "factor", float32(math.Exp(ln*float64(p.GetShift())))))
	return nil
}

// logarithm is log_base(shift + scale*x).
func logarithm(l *layer) error {
	p := l.p.GetLogParam()
	x := l.plus(l.times(l.in[0], "scale", p.GetScale()), "shift", p.GetShift())
	l.set(0, l.times(l.node("Log", []string{x}), "factor", float32(1/lnBase(p.GetBase()))))
	return nil
}

func lnBase(base float32) float64 {
	if base == -1 {
		return 1
	}
	return math.Log(float64(base))
}

func threshold(l *layer) error {
	above := l.node("Greater", []string{l.in[0], l.scalar("threshold", l.p.GetThresholdParam().GetThreshold())})
	l.set(0, l.node("Cast", []string{above}, float))
	return nil
}
