package loss

import (
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// probabilityLoss is the base of losses that compare labels with the softmax of scores (outer x classes x inner). It sums over the items
// and divides as loss_param says (lossParam.divisor). A second top gets the probabilities, a third the items' losses.
type probabilityLoss struct {
	layers.Base
	labelled
	axis int

	lossOf    func(p []float32, stride, label int) float64 // loss of an item with probabilities p[class*stride]
	classGrad func(p float32, class, label int) float64    // its gradient with respect to the score of a class
	gradTile  func(t *stream.Tile)                         // classGrad for a tile, times weight and scale; 0 for ignored items
	weight    func(p float64) float64                      // factor of an item's gradients, from its label's probability; nil: 1

	op    softmaxOp
	prob  *blob.Blob
	valid int // items in the last Forward that were not ignored

	sum   *stream.Kernel
	grad  *stream.Kernel
	scale float32
	ins   [2][]float32
	outs  [1][]float32
	shape []int
}

func (l *probabilityLoss) SetUp(_, _ []*blob.Blob) error {
	l.lossParam = readLossParam(l.Param.LossParam, caffepb.LossParameter_VALID)
	l.prob = l.Device.NewBlob(0)
	return nil
}

func (l *probabilityLoss) Reshape(bottom, top []*blob.Blob) error {
	if err := checkSameItems(bottom); err != nil {
		return err
	}
	dims, err := classes(bottom[0], bottom[1], l.axis)
	if err != nil {
		return err
	}
	top[0].Reshape()
	l.prob.ReshapeLike(bottom[0])
	if len(top) > 1 {
		top[1].ReshapeLike(bottom[0])
		top[1].ShareData(l.prob)
	}
	if len(top) > 2 {
		l.reshapeTerms(bottom[0], top[2])
	}
	if err := l.op.reshape(&l.Base, dims); err != nil || l.dims == dims {
		return err
	}
	l.dims = dims
	if l.MPE() {
		return nil
	}
	return l.prepare(len(top) > 2)
}

// reshapeTerms gives a top the shape of the scores with one class.
func (l *probabilityLoss) reshapeTerms(scores, top *blob.Blob) {
	l.shape = append(l.shape[:0], scores.Shape()...)
	axis, _ := scores.Axis(l.axis)
	l.shape[axis] = 1
	top.Reshape(l.shape...)
}

func (l *probabilityLoss) prepare(terms bool) error {
	name, ins, streams := l.Param.GetType(), part.Arrays(1, stream.Plane), part.StreamsOf(&l.Base)
	var outs []stream.Array
	if terms {
		outs = []stream.Array{stream.Plane}
	}
	l.sum = streams.Make(stream.Pass{
		Name: name, Dims: l.dims, WholeMid: true, Ins: ins, Outs: outs, Sums: 2, Cost: stream.Work{Flops: 1}, Op: l.sumTile,
	})
	l.grad = streams.Make(stream.Pass{
		Name: name + " gradient", Dims: l.dims, WholeMid: true, Ins: ins, Outs: part.Arrays(1), Cost: stream.Work{Flops: 2}, Op: l.gradTile,
	})
	return streams.Err
}

// sumTile sums losses (sum 0) and counts items that are not ignored (sum 1), both at middle index 0.
func (l *probabilityLoss) sumTile(t *stream.Tile) {
	l.eachInTile(t, func(at, label int, ok bool) {
		var loss float64
		if ok {
			loss = l.lossOf(t.In[0][at:], t.MStride, label)
			t.Sum[0] += loss
			t.Sum[t.M]++
		}
		if len(t.Out) > 0 {
			t.Out[0][at/t.OStride*t.PStride+at%t.OStride] = float32(loss)
		}
	})
}

func (l *probabilityLoss) Forward(bottom, top []*blob.Blob) error {
	prob, labels := l.prob.Data(), bottom[1].Data()
	if err := l.op.forward(bottom[0].Data(), prob); err != nil {
		return err
	}
	var sum float64
	l.valid = 0
	outs := l.outs[:0]
	if len(top) > 2 {
		outs = append(outs, top[2].Data())
	}
	if l.MPE() {
		for _, terms := range outs {
			clear(terms)
		}
		err := l.each(labels, func(n, label int) {
			loss := l.lossOf(prob[l.at(n, 0):], l.dims[2], label)
			if len(outs) > 0 {
				outs[0][n] = float32(loss)
			}
			sum += loss
			l.valid++
		})
		if err != nil {
			return err
		}
	} else {
		l.ins = [2][]float32{prob, labels}
		if err := l.sum.Run(l.ins[:], outs); err != nil {
			return err
		}
		sum, l.valid = l.sum.Sums()[0], int(l.sum.Sums()[l.dims[1]])
	}
	top[0].Data()[0] = float32(sum / l.divisor(l.dims[0], l.dims[2], l.valid))
	return nil
}

// Traits implements Planned. Forward keeps the probabilities, which are also an optional second top. Backward reads the labels and, for
// InfogainLoss, the matrix.
func (l *probabilityLoss) Traits() layers.Traits {
	return layers.Traits{Unread: layers.Unread{Bottoms: layers.SomeBottoms(0), Tops: true}, Keeps: []*blob.Blob{l.prob}}
}

func (l *probabilityLoss) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if propagateDown[1] {
		return errLabelGradient
	}
	if !propagateDown[0] {
		return nil
	}
	prob, labels, dx := l.prob.Data(), bottom[1].Data(), bottom[0].Diff()
	scale := float64(top[0].Diff()[0]) / l.divisor(l.dims[0], l.dims[2], l.valid)
	if !l.MPE() {
		l.scale = float32(scale)
		l.ins, l.outs[0] = [2][]float32{prob, labels}, dx
		return l.grad.Run(l.ins[:], l.outs[:])
	}
	clear(dx)
	return l.each(labels, func(n, label int) {
		scale := scale
		if l.weight != nil {
			scale *= l.weight(float64(prob[l.at(n, label)]))
		}
		for c := range l.dims[1] {
			dx[l.at(n, c)] = float32(scale * l.classGrad(prob[l.at(n, c)], c, label))
		}
	})
}

// normalizedByCount is the rule of losses whose normalization need not be the number of items.
func normalizedByCount(p *caffepb.LayerParameter, bottoms [][]int) layers.Coupling {
	if a := int(p.GetSoftmaxParam().GetAxis()); p.GetType() != "SigmoidCrossEntropyLoss" && (a == 0 || a == -len(bottoms[0])) {
		return layers.Coupling{Kind: layers.Moves, Why: "normalises over the items"}
	}
	l := p.GetLossParam()
	how := l.GetNormalization()
	if l != nil && l.Normalization == nil && l.Normalize != nil {
		if how = caffepb.LossParameter_BATCH_SIZE; l.GetNormalize() {
			how = caffepb.LossParameter_VALID
		}
	} else if (l == nil || l.Normalization == nil) && p.GetType() == "SigmoidCrossEntropyLoss" {
		how = caffepb.LossParameter_BATCH_SIZE
	}
	switch {
	case how == caffepb.LossParameter_NONE, how == caffepb.LossParameter_PRE_FIXED:
		return layers.SumOverItems
	case len(l.GetClassWeighting()) > 0, how == caffepb.LossParameter_VALID && l != nil && l.IgnoreLabel != nil:
		return layers.Coupling{Kind: layers.Differs, Why: "divides by the labels that count in the items of each worker, not in the whole batch"}
	}
	return layers.Coupling{}
}
