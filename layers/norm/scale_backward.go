package norm

import (
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
)

// Traits implements Planned. Backward reads the factors, and for their gradient x. If the layer runs in place, Forward keeps a copy of x.
// Channels may be in blocks if factors and summands are weights with one value per channel.
func (l *affine) Traits() layers.Traits {
	t := layers.Traits{Unread: layers.Unread{Bottoms: layers.BottomsIf(!l.scaled), Tops: true}}
	if l.scaled && (l.inPlace || !l.fromBottom && !l.ParamGrad(0)) {
		t.Unread.Bottoms = layers.SomeBottoms(0)
	}
	if l.scaled && l.inPlace {
		t.Keeps = []*blob.Blob{l.saved}
	}
	if !l.fromBottom && l.byChannel {
		t.Layout = l.InBlocks(l.axes, l.dims)
	}
	t.Joins.Finish = l.Blockable() && l.byChannel
	if l.isMap() {
		t.Is.Map = l
	}
	return t
}

func (l *affine) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	dy, x := top[0].Diff(), bottom[0].Data()
	if l.scaled && l.inPlace {
		x = l.saved.Data()
	}
	if err := l.operandGrads(dy, x, propagateDown, bottom); err != nil {
		return err
	}
	if !propagateDown[0] {
		return nil
	}
	s, _ := l.operands(bottom)
	dx := bottom[0].Diff()
	switch {
	case !l.scaled && l.inPlace:
	case !l.scaled:
		return l.move.Run(dx, dy)
	case l.MPE():
		for i, g := range dy {
			dx[i] = g * s[i/l.dims[2]%l.dims[1]]
		}
	default:
		l.ins[0], l.ins[1], l.outs[0] = dy, s, dx
		return l.backward.Run(l.ins[:2], l.outs[:1])
	}
	return nil
}

// operandGrads computes the gradients of s (sum of dy*x) and of b (sum of dy). It adds to a weight's gradient and overwrites a bottom's.
func (l *affine) operandGrads(dy, x []float32, propagateDown []bool, bottom []*blob.Blob) error {
	wantBottom := l.fromBottom && propagateDown[1]
	wantWeight := false
	for i := range l.Weights {
		wantWeight = wantWeight || l.ParamGrad(i)
	}
	if !wantBottom && !wantWeight {
		return nil
	}
	sums, err := l.sum(dy, x)
	if err != nil {
		return err
	}
	products, sums := sums[:l.dims[1]], sums[l.dims[1]:]
	l.addGrads(products, sums)
	if !wantBottom {
		return nil
	}
	first := sums
	if l.scaled {
		first = products
	}
	for m, s := range first {
		bottom[1].Diff()[m] = float32(s)
	}
	return nil
}

// addGrads adds the sums of dy*x to the gradient of s, and the sums of dy to that of b.
func (l *affine) addGrads(products, sums []float64) {
	for i := range l.Weights {
		grads := products
		if !l.scaled || i > 0 || l.fromBottom {
			grads = sums
		}
		if l.ParamGrad(i) {
			part.AddTo(l.Weights[i].Diff(), grads)
		}
	}
}

func (l *affine) sum(dy, x []float32) ([]float64, error) {
	if !l.MPE() {
		l.ins[0], l.ins[1] = dy, x
		err := l.sums.Run(l.ins[:2], nil)
		return l.sums.Sums(), err
	}
	sums := pages.Make[float64](2 * l.dims[1])
	for i, g := range dy {
		m := i / l.dims[2] % l.dims[1]
		sums[m] += float64(g) * float64(x[i])
		sums[l.dims[1]+m] += float64(g)
	}
	return sums, nil
}
