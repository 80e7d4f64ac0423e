package loss

import (
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
)

// itemLoss is the base of losses on scores (items x classes, all axes after the first) and labels. The loss is the mean over items of the
// sum over classes of a term.
type itemLoss struct {
	layers.Base
	labelled
	// losses returns the sum of the terms of some classes. slopes writes their derivatives, scaled. own means the label's class.
	losses func(x, trace []float32, own bool) float64
	slopes func(dx, x []float32, own bool, scale float64)
	traces bool // losses also writes its terms to trace, the scores' diff; if false, trace is nil

	sum, grad *stream.Kernel
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
	if l.MPE() {
		return nil
	}
	return l.prepare()
}

func (l *itemLoss) prepare() error {
	name, ins, streams := l.Param.GetType(), part.Arrays(1, stream.Plane), part.StreamsOf(&l.Base)
	traces := part.Arrays(0)
	if l.traces {
		traces = part.Arrays(1)
	}
	l.sum = streams.Make(stream.Pass{
		Name: name, Dims: l.dims, WholeMid: true, Ins: ins, Outs: traces, Sums: 1, Cost: stream.Work{Flops: 3}, Op: l.sumTile,
	})
	l.grad = streams.Make(stream.Pass{
		Name: name + " gradient", Dims: l.dims, WholeMid: true, Ins: ins, Outs: part.Arrays(1), Cost: stream.Work{Flops: 3}, Op: l.gradTile,
	})
	return streams.Err
}

func (l *itemLoss) sumTile(t *stream.Tile) {
	l.eachInTile(t, func(at, label int, _ bool) {
		eachRun(at, t.M, label, func(first, last int, own bool) {
			var trace []float32
			if l.traces {
				trace = t.Out[0][first:last]
			}
			t.Sum[0] += l.losses(t.In[0][first:last], trace, own)
		})
	})
}

func (l *itemLoss) gradTile(t *stream.Tile) {
	l.eachInTile(t, func(at, label int, _ bool) {
		eachRun(at, t.M, label, func(first, last int, own bool) { l.slopes(t.Out[0][first:last], t.In[0][first:last], own, l.scale) })
	})
}

// eachRun calls do for three ranges of a row of n scores that begins at at: before the label's class, the label's class, and after it.
func eachRun(at, n, label int, do func(first, last int, own bool)) {
	do(at, at+label, false)
	do(at+label, at+label+1, true)
	do(at+label+1, at+n, false)
}

func (l *itemLoss) Forward(bottom, top []*blob.Blob) error {
	x, labels := bottom[0].Data(), bottom[1].Data()
	outs := l.outs[:0]
	if l.traces {
		outs = append(outs, bottom[0].Diff())
	}
	sum, err := l.total(x, labels, outs)
	top[0].Data()[0] = float32(sum / float64(max(1, l.dims[0])))
	return err
}

// total returns the sum over all items. If outs has an array, the terms are written to it.
func (l *itemLoss) total(x, labels []float32, outs [][]float32) (sum float64, err error) {
	if !l.MPE() {
		l.ins = [2][]float32{x, labels}
		err = l.sum.Run(l.ins[:], outs)
		return l.sum.Sums()[0], err
	}
	err = l.each(labels, func(n, label int) {
		for c := range l.dims[1] {
			at := l.at(n, c)
			var trace []float32
			if len(outs) > 0 {
				trace = outs[0][at : at+1]
			}
			sum += l.losses(x[at:at+1], trace, c == label)
		}
	})
	return sum, err
}

// Traits implements Planned. Backward recomputes the terms.
func (l *itemLoss) Traits() layers.Traits { return layers.Traits{Unread: layers.Unread{Tops: true}} }

func (l *itemLoss) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if propagateDown[1] {
		return errLabelGradient
	}
	if !propagateDown[0] {
		return nil
	}
	x, labels, dx := bottom[0].Data(), bottom[1].Data(), bottom[0].Diff()
	l.scale = float64(top[0].Diff()[0]) / float64(max(1, l.dims[0]))
	if !l.MPE() {
		l.ins, l.outs[0] = [2][]float32{x, labels}, dx
		return l.grad.Run(l.ins[:], l.outs[:])
	}
	return l.each(labels, func(n, label int) {
		for c := range l.dims[1] {
			at := l.at(n, c)
			l.slopes(dx[at:at+1], x[at:at+1], c == label, l.scale)
		}
	})
}
