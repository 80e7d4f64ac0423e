package loss

import (
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "SmoothL1LossOHEM", Doc: "mean of smooth absolute differences, with optional weights; a second top gets the items' losses",
		Couples: layers.Always(layers.Differs, "divides by what it counts in the items of each worker, not in the whole batch"),
		Params:  []string{"loss_param"},
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &smoothL1LossOHEM{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Between(2, 3), Tops: layers.Between(1, 2), Loss: true, NoForceBackward: []int{2},
	})
}

// smoothL1LossOHEM is the SmoothL1LossOHEM layer of R-FCN (Dai et al. 2016): the sum of f(w * (a - b)) over bottoms of items x values x pixels,
// divided as loss_param says; f is that of smoothL1Loss for sigma 1. Bottom 2 is w, by default 1. The second top, of items x 1 x pixels, gets
// the sums over values. R-FCN's weights are 0 or 1. Its layer leaves w out of the gradient, which makes no difference then.
type smoothL1LossOHEM struct {
	layers.Base
	lossParam
	dims  [3]int
	slope *blob.Blob // derivative of the sum by a

	sum      *stream.Kernel
	gradient pairGradient
	ins      [3][]float32
	outs     [2][]float32
}

func (l *smoothL1LossOHEM) SetUp(_, _ []*blob.Blob) error {
	l.lossParam, l.slope = readLossParam(l.Param.LossParam, caffepb.LossParameter_VALID), l.Device.NewBlob(0)
	return nil
}

func (l *smoothL1LossOHEM) Reshape(bottom, top []*blob.Blob) error {
	if err := part.CheckSameExtents(bottom); err != nil {
		return err
	}
	dims, err := part.SplitAxis(bottom[0], 1)
	if err != nil {
		return err
	}
	top[0].Reshape()
	if len(top) > 1 {
		top[1].Reshape(dims[0], 1, bottom[0].Legacy(2), bottom[0].Legacy(3))
	}
	l.slope.ReshapeLike(bottom[0])
	if l.dims == dims {
		return nil
	}
	l.dims = dims
	if l.MPE() {
		return nil
	}
	outs, streams := part.Arrays(1), part.StreamsOf(&l.Base)
	if len(top) > 1 {
		outs = part.Arrays(1, stream.Plane)
	}
	l.sum = streams.Make(stream.Pass{
		Name: "smooth L1 loss", Dims: dims, WholeMid: true, Ins: part.Arrays(len(bottom)), Outs: outs, Sums: 1, Cost: stream.Work{Flops: 8}, Op: l.addTile,
	})
	l.gradient.scale = streams.Make(l.gradient.pass("smooth L1 loss gradient", bottom[0].Count()))
	return streams.Err
}

// addTile writes slopes and items' losses, and adds up the losses in sum 0 of middle index 0.
func (l *smoothL1LossOHEM) addTile(t *stream.Tile) {
	for o := range t.O {
		for i := range t.I {
			var loss float64
			for m := range t.M {
				at := o*t.OStride + m*t.MStride + i
				loss += l.add(t.Out[0], t.In, at)
			}
			t.Sum[0] += loss
			if len(t.Out) > 1 {
				t.Out[1][o*t.PStride+i] = float32(loss)
			}
		}
	}
}

// add writes a slope and returns the term.
func (l *smoothL1LossOHEM) add(slope []float32, in [][]float32, at int) float64 {
	w := 1.0
	if len(in) > 2 {
		w = float64(in[2][at])
	}
	term, derivative := smoothL1(w*(float64(in[0][at])-float64(in[1][at])), 1)
	slope[at] = float32(w * derivative)
	return term
}

func (l *smoothL1LossOHEM) Forward(bottom, top []*blob.Blob) error {
	for i, b := range bottom {
		l.ins[i] = b.Data()
	}
	l.outs[0] = l.slope.Data()
	if len(top) > 1 {
		l.outs[1] = top[1].Data()
	}
	var sum float64
	if l.MPE() {
		for n := range l.dims[0] * l.dims[2] {
			var loss float64
			for m := range l.dims[1] {
				loss += l.add(l.outs[0], l.ins[:len(bottom)], (n/l.dims[2]*l.dims[1]+m)*l.dims[2]+n%l.dims[2])
			}
			sum += loss
			if len(top) > 1 {
				l.outs[1][n] = float32(loss)
			}
		}
	} else {
		if err := l.sum.Run(l.ins[:len(bottom)], l.outs[:len(top)]); err != nil {
			return err
		}
		sum = l.sum.Sums()[0]
	}
	top[0].Data()[0] = float32(sum / l.divisor(l.dims[0], l.dims[2], l.dims[0]*l.dims[2]))
	return nil
}

// Traits implements Planned. Forward keeps the slopes.
func (l *smoothL1LossOHEM) Traits() layers.Traits {
	return layers.Traits{Unread: layers.ReadsNothing, Keeps: []*blob.Blob{l.slope}}
}

func (l *smoothL1LossOHEM) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if len(bottom) > 2 && propagateDown[2] {
		return fmt.Errorf("the layer has no gradient for weights (bottom 2)")
	}
	divisor := float32(l.divisor(l.dims[0], l.dims[2], l.dims[0]*l.dims[2]))
	return l.gradient.backward(l.MPE(), l.slope.Data(), divisor, top[0], propagateDown, bottom)
}
