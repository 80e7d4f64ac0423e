package loss

import (
	"fmt"
	"math"
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "SigmoidCrossEntropyLoss", Doc: "cross entropy of sigmoid(x) and targets between 0 and 1",
		Couples: normalizedByCount,
		Params:  []string{"loss_param"},
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &sigmoidCrossEntropyLoss{Base: layers.Base{Param: p, Device: d}, count: -1}
		},
		Bottoms: layers.Exactly(2), Tops: layers.Exactly(1), Loss: true, NoForceBackward: []int{1},
	})
}

// sigmoidCrossEntropyLoss is Caffe's SigmoidCrossEntropyLoss layer. With p = 1 / (1 + exp(-x)), the loss of a value is
//
//	-t*log(p) - (1-t)*log(1-p) = max(x, 0) - x*t + log(1 + exp(-|x|)),
//
// and its gradient is p - t. As in Caffe, a target is ignored if its integer part is ignore_label. The sum is divided by the number of
// items (BATCH_SIZE) unless loss_param says otherwise.
type sigmoidCrossEntropyLoss struct {
	layers.Base
	loss         lossParam
	count        int
	outer, inner int
	valid        int // targets in the last Forward that were not ignored

	sum, grad *stream.Kernel
	scale     float32
	ins       [2][]float32
	outs      [1][]float32
}

func (l *sigmoidCrossEntropyLoss) SetUp(_, _ []*blob.Blob) error {
	l.loss = readLossParam(l.Param.LossParam, caffepb.LossParameter_BATCH_SIZE)
	return nil
}

func (l *sigmoidCrossEntropyLoss) Reshape(bottom, top []*blob.Blob) error {
	if err := checkSameItems(bottom); err != nil {
		return err
	}
	if bottom[0].Count() != bottom[1].Count() {
		return fmt.Errorf("scores and targets must have the same count: %s and %s", bottom[0].ShapeString(), bottom[1].ShapeString())
	}
	top[0].Reshape()
	l.outer = bottom[0].Legacy(0)
	l.inner = bottom[0].Count() / max(1, l.outer)
	if l.count == bottom[0].Count() || l.MPE() {
		return nil
	}
	l.count = bottom[0].Count()
	return l.prepare()
}

func (l *sigmoidCrossEntropyLoss) prepare() error {
	name, dims, streams := l.Param.GetType(), [3]int{1, 1, l.count}, part.StreamsOf(&l.Base)
	l.sum = streams.Make(stream.Pass{
		Name: name, Dims: dims, Ins: part.Arrays(2), Sums: 2, Scratch: 2, Cost: stream.Work{Flops: 6, Specials: 2}, Op: l.sumTile,
	})
	l.grad = streams.Make(stream.Pass{
		Name: name + " gradient", Dims: dims, Ins: part.Arrays(2), Outs: part.Arrays(1), Cost: stream.Work{Flops: 3, Specials: 2}, Op: l.gradTile,
	})
	return streams.Err
}

func (l *sigmoidCrossEntropyLoss) ignored(target float32) bool {
	return slices.Contains(l.loss.ignored, int(target))
}

// sumTile sums losses (sum 0) and counts targets that are not ignored (sum 1).
func (l *sigmoidCrossEntropyLoss) sumTile(t *stream.Tile) {
	x, target, loss, tmp := t.In[0][:t.I], t.In[1][:t.I], t.Scratch[0][:t.I], t.Scratch[1][:t.I]
	vec.Abs(loss, x)
	vec.Scale(loss, loss, -1)
	vec.Exp(loss, loss)
	vec.AddScalar(loss, loss, 1)
	vec.Log(loss, loss)
	vec.ReLU(tmp, x, 0)
	vec.Add(loss, loss, tmp)
	vec.Mul(tmp, x, target)
	vec.Sub(loss, loss, tmp)
	valid := t.I
	if len(l.loss.ignored) > 0 {
		for i, v := range target {
			if l.ignored(v) {
				loss[i] = 0
				valid--
			}
		}
	}
	t.Sum[0] += vec.Sum(loss)
	t.Sum[1] += float64(valid)
}

func (l *sigmoidCrossEntropyLoss) gradTile(t *stream.Tile) {
	target, dx := t.In[1][:t.I], t.Out[0][:t.I]
	vec.Sigmoid(dx, t.In[0])
	vec.Sub(dx, dx, target)
	vec.Scale(dx, dx, l.scale)
	if len(l.loss.ignored) == 0 {
		return
	}
	for i, v := range target {
		if l.ignored(v) {
			dx[i] = 0
		}
	}
}

func (l *sigmoidCrossEntropyLoss) Forward(bottom, top []*blob.Blob) error {
	x, target := bottom[0].Data(), bottom[1].Data()
	var sum float64
	l.valid = 0
	if l.MPE() {
		for i, v := range x {
			if l.ignored(target[i]) {
				continue
			}
			x, t := float64(v), float64(target[i])
			sum += max(x, 0) - x*t + math.Log1p(math.Exp(-math.Abs(x)))
			l.valid++
		}
	} else {
		l.ins = [2][]float32{x, target}
		if err := l.sum.Run(l.ins[:], nil); err != nil {
			return err
		}
		sum, l.valid = l.sum.Sums()[0], int(l.sum.Sums()[1])
	}
	top[0].Data()[0] = float32(sum / l.loss.divisor(l.outer, l.inner, l.valid))
	return nil
}

// Traits implements Planned. Backward recomputes p.
func (l *sigmoidCrossEntropyLoss) Traits() layers.Traits {
	return layers.Traits{Unread: layers.Unread{Tops: true}}
}

func (l *sigmoidCrossEntropyLoss) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if propagateDown[1] {
		return errLabelGradient
	}
	if !propagateDown[0] {
		return nil
	}
	x, target, dx := bottom[0].Data(), bottom[1].Data(), bottom[0].Diff()
	scale := float64(top[0].Diff()[0]) / l.loss.divisor(l.outer, l.inner, l.valid)
	if !l.MPE() {
		l.scale = float32(scale)
		l.ins, l.outs[0] = [2][]float32{x, target}, dx
		return l.grad.Run(l.ins[:], l.outs[:])
	}
	for i, v := range x {
		if dx[i] = 0; !l.ignored(target[i]) {
			dx[i] = float32(scale * (part.Logistic(float64(v)) - float64(target[i])))
		}
	}
	return nil
}
