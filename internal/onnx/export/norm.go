package export

import (
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
)

// batchNorm is one BatchNormalization, with the weights of the Scale layer behind it if there is one, or NVCaffe's own.
func batchNorm(l *layer) error {
	eps := l.epsilon(l.index)
	if !l.globalStatistics(l.index) {
		return l.ownStatistics(eps)
	}
	mean, variance := statistics(l.net.Layer(l.index))
	channels := len(mean)
	scale, shift := "", ""
	switch {
	case len(l.weights) == 5:
		scale, shift = l.weight(3, channels), l.weight(4, channels)
	case l.fold != nil:
		by := l.open(l.fold.scaling)
		scale = by.weight(0)
		if len(by.weights) > 1 {
			shift = by.weight(1)
		}
	}
	if scale == "" {
		scale = l.array("ones", slices.Repeat([]float32{1}, channels), channels)
	}
	if shift == "" {
		shift = l.array("zeros", make([]float32, channels), channels)
	}
	ds := l.dims(l.bottom[0])
	images := ds
	if len(ds) == 1 {
		images = []dim{ds[0], {n: 1}}
	}
	in := []string{
		l.reshape(l.in[0], ds, images), scale, shift,
		l.add(&constant{name: l.name + "[0]", dims: []int{channels}, floats: mean}), l.add(&constant{name: l.name + "[1]", dims: []int{channels}, floats: variance}),
	}
	l.set(0, l.reshape(l.node("BatchNormalization", in, attr{"epsilon", eps}), images, ds))
	return nil
}

// ownStatistics normalises with the batch's mean and variance (use_global_stats: false).
func (l *layer) ownStatistics(eps float32) error {
	l.set(0, l.normalised(eps))
	return nil
}

// normalised is (x - mean) / sqrt(variance + eps) by channel, with the batch's mean and variance.
func (l *layer) normalised(eps float32) string {
	if ds := l.dims(l.bottom[0]); l.opt.Opset < 18 && ds[0].dynamic {
		l.misread = append(l.misread, fmt.Sprintf("OpenCV 4.6 normalises each item alone in layer %q while the batch size is open: fix it with -batch", l.name))
	}
	var axes []int
	for i := range l.bottom[0].NumAxes() {
		if i != 1 {
			axes = append(axes, i)
		}
	}
	centred := l.node("Sub", []string{l.in[0], l.reduce("ReduceMean", l.in[0], axes, true)})
	variance := l.reduce("ReduceMean", l.node("Mul", []string{centred, centred}), axes, true)
	deviation := l.node("Sqrt", []string{l.plus(variance, "eps", eps)})
	return l.node("Div", []string{centred, deviation})
}

// mvn divides by the standard deviation plus eps.
func mvn(l *layer) error {
	p, ds := l.p.GetMvnParam(), l.dims(l.bottom[0])
	rows, axis := []dim{{n: 1}, product(ds)}, 1
	switch {
	case len(ds) == 0:
	case p.GetAcrossChannels():
		rows = []dim{ds[0], product(ds[1:])}
	case len(ds) == 1:
		rows = []dim{ds[0], {n: 1}}
	default:
		rows, axis = []dim{ds[0], ds[1], product(ds[2:])}, 2
	}
	x := l.reshape(l.in[0], ds, rows)
	y := l.node("Sub", []string{x, l.reduce("ReduceMean", x, []int{axis}, true)})
	if p.GetNormalizeVariance() {
		variance := l.reduce("ReduceMean", l.node("Mul", []string{y, y}), []int{axis}, true)
		y = l.node("Div", []string{y, l.plus(l.node("Sqrt", []string{variance}), "eps", p.GetEps())})
	}
	l.set(0, l.reshape(y, rows, ds))
	return nil
}

// reduce writes a reduction over axes. Opset 18 made the axes an input; ReduceSum has had it so since 13.
func (l *layer) reduce(op, v string, axes []int, keep bool) string {
	keepdims := attr{"keepdims", 0}
	if keep {
		keepdims.value = 1
	}
	if op == "ReduceSum" || l.opt.Opset >= 18 {
		return l.node(op, []string{v, l.ints("axes", axes...)}, keepdims)
	}
	return l.node(op, []string{v}, attr{"axes", axes}, keepdims)
}

func softmax(l *layer) error {
	axis, _ := l.bottom[0].Axis(int(l.p.GetSoftmaxParam().GetAxis()))
	l.set(0, l.node("Softmax", l.in, attr{"axis", axis}))
	return nil
}

func scale(l *layer) error {
	p := l.p.GetScaleParam()
	axis, next := int(p.GetAxis()), 1
	factor, shape := "", []int(nil)
	if len(l.bottom) > 1 {
		factor, shape, next = l.operand(axis), l.bottom[1].Shape(), 0
	} else {
		factor, shape = l.weightAt(0, axis), l.weights[0].Shape()
	}
	y := l.node("Mul", []string{l.in[0], factor})
	if p.GetBiasTerm() {
		y = l.node("Add", []string{y, l.add(&constant{
			name: fmt.Sprintf("%s[%d]", l.name, next), dims: l.aligned(shape, axis), floats: l.weights[next].Data(),
		})})
	}
	l.set(0, y)
	return nil
}

func shift(l *layer) error {
	axis := int(l.p.GetBiasParam().GetAxis())
	shift := ""
	if len(l.bottom) > 1 {
		shift = l.operand(axis)
	} else {
		shift = l.weightAt(0, axis)
	}
	l.set(0, l.node("Add", []string{l.in[0], shift}))
	return nil
}

// weightAt makes an initializer of weight i that begins at an axis of the bottom.
func (l *layer) weightAt(i, axis int) string {
	return l.weight(i, l.aligned(l.weights[i].Shape(), axis)...)
}

// aligned appends extents of 1, so that a shape that begins at axis ends at the bottom's last axis.
func (l *layer) aligned(shape []int, axis int) []int {
	first, _ := l.bottom[0].Axis(axis)
	if len(shape) == 0 {
		return []int{}
	}
	to := slices.Clone(shape)
	for range l.bottom[0].NumAxes() - first - len(shape) {
		to = append(to, 1)
	}
	return to
}

// operand aligns the second bottom in the same way.
func (l *layer) operand(axis int) string {
	b := l.bottom[1]
	return l.reshape(l.in[1], l.dims(b), l.alignedDims(b, axis))
}

func (l *layer) alignedDims(b *blob.Blob, axis int) []dim {
	ds := l.dims(b)
	return append(ds, known(l.aligned(b.Shape(), axis)[len(ds):]...)...)
}
