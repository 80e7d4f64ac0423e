package loss

import (
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "SmoothL1Loss", Doc: "sum of smooth absolute differences / number of items, with optional weights inside and outside",
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &smoothL1Loss{Base: layers.Base{Param: p, Device: d}, count: -1}
		},
		Bottoms: layers.Between(2, 4), Tops: layers.Exactly(1), Loss: true, NoForceBackward: []int{2, 3},
	})
}

// smoothL1Loss is the SmoothL1Loss layer of Fast R-CNN (Girshick 2015): the sum of w_out * f(w_in * (a - b)) / items, where f(d) is
// (sigma*d)^2 / 2 for |d| < 1/sigma^2, and |d| - 1/(2*sigma^2) otherwise. Bottoms 2 and 3 are w_in and w_out; without them both are 1.
type smoothL1Loss struct {
	layers.Base
	count    int
	weighted bool
	squared  float64    // sigma^2
	slope    *blob.Blob // derivative of the sum by a

	sum      *stream.Kernel
	gradient pairGradient
	ins      [4][]float32
	outs     [1][]float32
}

func (l *smoothL1Loss) SetUp(bottom, _ []*blob.Blob) error {
	sigma := l.Param.GetSmoothL1LossParam().GetSigma()
	if !(sigma > 0) {
		return fmt.Errorf("sigma must be positive, it is %g", sigma)
	}
	if len(bottom) == 3 {
		return fmt.Errorf("inside weights (bottom 2) need outside weights (bottom 3): there are %d bottoms", len(bottom))
	}
	l.squared, l.weighted, l.slope = float64(sigma)*float64(sigma), len(bottom) == 4, l.Device.NewBlob(0)
	return nil
}

func (l *smoothL1Loss) Reshape(bottom, top []*blob.Blob) error {
	if err := part.CheckSameExtents(bottom); err != nil {
		return err
	}
	top[0].Reshape()
	l.slope.ReshapeLike(bottom[0])
	if l.count == bottom[0].Count() || l.MPE() {
		return nil
	}
	l.count = bottom[0].Count()
	dims, streams := [3]int{1, 1, l.count}, part.StreamsOf(&l.Base)
	l.sum = streams.Make(stream.Pass{
		Name: "smooth L1 loss", Dims: dims, Ins: part.Arrays(len(bottom)), Outs: part.Arrays(1), Sums: 1, Cost: stream.Work{Flops: 8},
		Op: func(t *stream.Tile) { t.Sum[0] += l.add(t.Out[0][:t.I], t.In) },
	})
	l.gradient.scale = streams.Make(l.gradient.pass("smooth L1 loss gradient", l.count))
	return streams.Err
}

// add writes the slopes and returns the sum of the terms.
func (l *smoothL1Loss) add(slope []float32, in [][]float32) (sum float64) {
	a, b := in[0], in[1]
	for i := range slope {
		inside, outside := 1.0, 1.0
		if l.weighted {
			inside, outside = float64(in[2][i]), float64(in[3][i])
		}
		term, derivative := smoothL1(inside*(float64(a[i])-float64(b[i])), l.squared)
		sum += outside * term
		slope[i] = float32(outside * inside * derivative)
	}
	return sum
}

// smoothL1 returns f(d) and its derivative for sigma^2.
func smoothL1(d, squared float64) (value, derivative float64) {
	if math.Abs(d) < 1/squared {
		return d * d * squared / 2, squared * d
	}
	return math.Abs(d) - 0.5/squared, part.Sign(d)
}

func (l *smoothL1Loss) Forward(bottom, top []*blob.Blob) error {
	for i, b := range bottom {
		l.ins[i] = b.Data()
	}
	var sum float64
	if l.MPE() {
		sum = l.add(l.slope.Data(), l.ins[:len(bottom)])
	} else {
		l.outs[0] = l.slope.Data()
		if err := l.sum.Run(l.ins[:len(bottom)], l.outs[:]); err != nil {
			return err
		}
		sum = l.sum.Sums()[0]
	}
	top[0].Data()[0] = float32(sum / float64(max(1, bottom[0].Legacy(0))))
	return nil
}

// Traits implements Planned. Forward keeps the slopes.
func (l *smoothL1Loss) Traits() layers.Traits {
	return layers.Traits{Unread: layers.ReadsNothing, Keeps: []*blob.Blob{l.slope}}
}

func (l *smoothL1Loss) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	for i, p := range propagateDown {
		if p && i > 1 {
			return fmt.Errorf("the layer has no gradient for weights (bottom %d)", i)
		}
	}
	return l.gradient.backward(l.MPE(), l.slope.Data(), float32(max(1, bottom[0].Legacy(0))), top[0], propagateDown, bottom)
}
