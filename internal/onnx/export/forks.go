package export

import (
	"math"
	"slices"

	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// The rules in this file are for layer types of forks of Caffe.

func relu6(l *layer) error {
	l.set(0, l.clip(l.in[0], 0, 6))
	return nil
}

func hardSigmoid(l *layer) error {
	p := l.p.GetHardsigmoidParam()
	l.set(0, l.node("HardSigmoid", l.in, attr{"alpha", p.GetAlpha()}, attr{"beta", p.GetBeta()}))
	return nil
}

// hardSwish is x * min(max(x + 3, 0), 6) / 6.
func hardSwish(l *layer) error {
	l.set(0, l.node("Mul", []string{l.in[0], l.node("HardSigmoid", l.in, attr{"alpha", float32(1) / 6}, attr{"beta", float32(0.5)})}))
	return nil
}

// mish is x * tanh(log(1 + exp(x))).
func mish(l *layer) error {
	l.set(0, l.node("Mul", []string{l.in[0], l.node("Tanh", []string{l.node("Softplus", l.in)})}))
	return nil
}

// permute is a Transpose. Axes that are not named follow in their order.
func permute(l *layer) error {
	var order []int
	for _, axis := range l.p.GetPermuteParam().GetOrder() {
		order = append(order, int(axis))
	}
	for axis := range l.bottom[0].NumAxes() {
		if !slices.Contains(order, axis) {
			order = append(order, axis)
		}
	}
	l.set(0, l.node("Transpose", l.in, attr{"perm", order}))
	return nil
}

// transposed is a Transpose of all axes.
func transposed(l *layer) error {
	var order []int
	for _, axis := range l.p.GetTransposeParam().GetDim() {
		order = append(order, int(axis))
	}
	l.set(0, l.node("Transpose", l.in, attr{"perm", order}))
	return nil
}

// reverse is a Slice with a step of -1.
func reverse(l *layer) error {
	axis, _ := l.bottom[0].Axis(int(l.p.GetReverseParam().GetAxis()))
	l.set(0, l.node("Slice", []string{l.in[0], l.ints("last", -1), l.ints("first", math.MinInt32), l.ints("axis", axis), l.ints("step", -1)}))
	return nil
}

// shuffleChannel exchanges the two axes into which groups divide the channels.
func shuffleChannel(l *layer) error {
	ds, group := l.dims(l.bottom[0]), int(l.p.GetShuffleChannelParam().GetGroup())
	if len(ds) < 2 {
		return errNoRule
	}
	per, plane := ds[1].n/group, product(ds[2:])
	parts := l.reshape(l.in[0], ds, []dim{ds[0], {n: group}, {n: per}, plane})
	y := l.node("Transpose", []string{parts}, attr{"perm", []int{0, 2, 1, 3}})
	l.set(0, l.reshape(y, []dim{ds[0], {n: per}, {n: group}, plane}, ds))
	return nil
}

// reorg moves blocks of pixels to channels in darknet's order, which is not that of SpaceToDepth; with reverse it moves them back.
func reorg(l *layer) error {
	p, ds, top := l.p.GetReorgParam(), l.dims(l.bottom[0]), l.dims(l.top[0])
	s := int(p.GetStride())
	per := ds[1].n / (s * s)
	parts, order := []dim{ds[0], {n: per}, ds[2], {n: s}, ds[3], {n: s}}, []int{0, 3, 5, 1, 2, 4}
	if p.GetReverse() {
		parts, order = []dim{ds[0], {n: s}, {n: s}, {n: per}, ds[2], ds[3]}, []int{0, 3, 4, 1, 5, 2}
	}
	moved := make([]dim, len(parts))
	for i, axis := range order {
		moved[i] = parts[axis]
	}
	y := l.node("Transpose", []string{l.reshape(l.in[0], ds, parts)}, attr{"perm", order})
	l.set(0, l.reshape(y, moved, top))
	return nil
}

// axpy is a*x + y, with one factor for each plane of x.
func axpy(l *layer) error {
	x := l.dims(l.bottom[1])
	factors := slices.Clone(x[:2])
	for range x[2:] {
		factors = append(factors, dim{n: 1})
	}
	a := l.reshape(l.in[0], l.dims(l.bottom[0]), factors)
	l.set(0, l.node("Add", []string{l.node("Mul", []string{a, l.in[1]}), l.in[2]}))
	return nil
}

// noise is the rule of layers that copy their first bottom in phase TEST.
func noise(l *layer) error {
	l.set(0, l.in[0])
	return nil
}

// bn is PSPNet's layer, which is a BatchNormalization if it has running averages, or else one that normalises with the batch's statistics or
// with none, as SegNet's.
func bn(l *layer) error {
	p, ds := l.p.GetBnParam(), l.dims(l.bottom[0])
	channels := l.weights[0].Count()
	averages, eps := len(l.weights) == 4, p.GetEps()
	if moving(p) {
		averages, eps = p.GetMovingAverage(), varEps(p)
	}
	if averages {
		images := ds
		if len(ds) == 1 {
			images = []dim{ds[0], {n: 1}}
		}
		in := []string{l.reshape(l.in[0], ds, images), l.weight(0, channels), l.weight(1, channels), l.weight(2, channels), l.weight(3, channels)}
		l.set(0, l.reshape(l.node("BatchNormalization", in, attr{"epsilon", eps}), images, ds))
		return nil
	}
	x := l.in[0]
	if p.GetBnMode() != caffepb.BNParameter_INFERENCE {
		x = l.normalised(varEps(p))
	}
	by := l.aligned([]int{channels}, min(1, len(ds)-1))
	l.set(0, l.node("Add", []string{l.node("Mul", []string{x, l.weight(0, by...)}), l.weight(1, by...)}))
	return nil
}

// moving reports whether parameters are those of PSPNet's first release.
func moving(p *caffepb.BNParameter) bool {
	return p != nil && (p.MovingAverage != nil || p.Decay != nil || p.Axis != nil)
}

// varEps returns the number added to variances. Its default is smaller in PSPNet's first release.
func varEps(p *caffepb.BNParameter) float32 {
	if moving(p) && p.VarEps == nil {
		return 1e-10
	}
	return p.GetVarEps()
}

// normalize divides by the norm of a pixel's channels or of an item, and multiplies SSD's layer with its factors.
func normalize(l *layer) error {
	p, ds := l.p.GetNormParam(), l.dims(l.bottom[0])
	items := ds
	if len(ds) < 2 {
		items = append(slices.Clone(ds), known(1, 1)[len(ds):]...)
	}
	eps := p.GetEps()
	if p == nil {
		eps = 0
	}
	rows := items
	if p == nil || p.GetAcrossSpatial() {
		rows = []dim{items[0], product(items[1:])}
	}
	x := l.reshape(l.in[0], ds, rows)
	squares := l.reduce("ReduceSumSquare", x, []int{1}, true)
	y := l.reshape(l.node("Div", []string{x, l.node("Sqrt", []string{l.plus(squares, "eps", eps)})}), rows, items)
	if len(l.weights) > 0 {
		y = l.node("Mul", []string{y, l.weightAt(0, 1)})
	}
	l.set(0, l.reshape(y, items, ds))
	return nil
}
