package export

import "slices"

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
