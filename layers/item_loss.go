package layers

import (
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel"
)

// itemLoss is a loss of scores items x classes (all axes behind the first) and labels: the mean over the items of the sum
// over classes of a term.
type itemLoss struct {
	Base
	labelled
	// term is the loss that the score of a class adds, and its derivative; own: the class is the label.
	term func(x float32, own bool) (loss, slope float64)
	// trace, if there is one, is what Forward leaves in the scores' diff.
	trace func(x float32, own bool) float32

	sum, grad *kernel.StreamKernel
	scale     float64
	ins       [2][]float32
	outs      [1][]float32
}

func (l *itemLoss) SetUp(_, _ []*blob.Blob) error { return nil }

func (l *itemLoss) Reshape(bottom, top []*blob.Blob) error {
	if err := checkSameItems(bottom); err != nil {
		return err
	}
	items := bottom[0].Legacy(0)
	dims := [3]int{items, bottom[0].CountFrom(min(1, bottom[0].NumAxes())), 1}
	if err := checkLabels(bottom[0], bottom[1], items); err != nil {
		return err
	}
	top[0].Reshape()
	if l.dims == dims {
		return nil
	}
	l.dims = dims
	if l.mpe() {
		return nil
	}
	return l.prepare()
}

func (l *itemLoss) prepare() error {
	name, ins, streams := l.Param.GetType(), arrays(1, kernel.Plane), l.streams()
	traces := arrays(0)
	if l.trace != nil {
		traces = arrays(1)
	}
	l.sum = streams.make(kernel.Stream{
		Name: name, Dims: l.dims, WholeMid: true, Ins: ins, Outs: traces, Sums: 1, Cost: kernel.Work{Flops: 3}, Op: l.sumTile,
	})
	l.grad = streams.make(kernel.Stream{
		Name: name + " gradient", Dims: l.dims, WholeMid: true, Ins: ins, Outs: arrays(1), Cost: kernel.Work{Flops: 3}, Op: l.gradTile,
	})
	return streams.err
}

func (l *itemLoss) sumTile(t *kernel.Tile) {
	l.eachInTile(t, func(at, label int, _ bool) {
		for m, x := range t.In[0][at : at+t.M] {
			loss, _ := l.term(x, m == label)
			t.Sum[0] += loss
			if l.trace != nil {
				t.Out[0][at+m] = l.trace(x, m == label)
			}
		}
	})
}

func (l *itemLoss) gradTile(t *kernel.Tile) {
	l.eachInTile(t, func(at, label int, _ bool) {
		for m, x := range t.In[0][at : at+t.M] {
			_, slope := l.term(x, m == label)
			t.Out[0][at+m] = float32(l.scale * slope)
		}
	})
}

func (l *itemLoss) Forward(bottom, top []*blob.Blob) error {
	x, labels := bottom[0].Data(), bottom[1].Data()
	outs := l.outs[:0]
	if l.trace != nil {
		outs = append(outs, bottom[0].Diff())
	}
	sum, err := l.total(x, labels, outs)
	top[0].Data()[0] = float32(sum / float64(max(1, l.dims[0])))
	return err
}

// total is the sum over all items; traces go to the only array of outs, if there is one.
func (l *itemLoss) total(x, labels []float32, outs [][]float32) (sum float64, err error) {
	if !l.mpe() {
		l.ins = [2][]float32{x, labels}
		err = l.sum.Run(l.ins[:], outs)
		return l.sum.Sums()[0], err
	}
	err = l.each(labels, func(n, label int) {
		for c := range l.dims[1] {
			at := l.at(n, c)
			loss, _ := l.term(x[at], c == label)
			sum += loss
			if len(outs) > 0 {
				outs[0][at] = l.trace(x[at], c == label)
			}
		}
	})
	return sum, err
}

// BackwardReads implements BackwardReader: terms are computed again.
func (l *itemLoss) BackwardReads() (bottoms, tops bool) { return true, false }

func (l *itemLoss) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if propagateDown[1] {
		return errLabelGradient
	}
	if !propagateDown[0] {
		return nil
	}
	x, labels, dx := bottom[0].Data(), bottom[1].Data(), bottom[0].Diff()
	l.scale = float64(top[0].Diff()[0]) / float64(max(1, l.dims[0]))
	if !l.mpe() {
		l.ins, l.outs[0] = [2][]float32{x, labels}, dx
		return l.grad.Run(l.ins[:], l.outs[:])
	}
	return l.each(labels, func(n, label int) {
		for c := range l.dims[1] {
			_, slope := l.term(x[l.at(n, c)], c == label)
			dx[l.at(n, c)] = float32(l.scale * slope)
		}
	})
}
