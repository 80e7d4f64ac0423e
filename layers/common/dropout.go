package common

import (
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "Dropout", Doc: "zeroes each value with probability dropout_ratio in training and scales the others by 1/(1-ratio)",
		Couples: layers.InTraining("draws other random numbers in every worker"), Effects: layers.Draws,
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &dropout{Base: layers.Base{Param: p, Device: d}, count: -1}
		},
		Bottoms: layers.Exactly(1), Tops: layers.Exactly(1), InPlace: true,
	})
}

// dropout is Caffe's Dropout layer (Srivastava et al. 2014). It stores no mask. Element i of a pass is kept if random number i of the
// pass's key is at least the ratio, whatever tile or core computes it. Dropped elements are multiplied by 0, so that infinities and NaN
// become NaN.
//
// With scale_train: false, of Fast R-CNN's fork, the values kept in training are not scaled, and in phase TEST all are multiplied by 1 - ratio.
type dropout struct {
	layers.Base
	scale     float32 // of values that are kept
	copies    bool    // phase TEST leaves values as they are
	below     uint32  // random numbers below this drop the value
	key       uint64
	count     int
	stream    *stream.Kernel
	ins, outs [1][]float32
}

func (l *dropout) SetUp(_, _ []*blob.Blob) error {
	ratio := l.Param.GetDropoutParam().GetDropoutRatio()
	scaleTrain := l.Param.GetDropoutParam().GetScaleTrain()
	l.copies = !l.Train() && scaleTrain
	if !l.copies && !(ratio >= 0 && ratio < 1) {
		return fmt.Errorf("dropout_ratio must be at least 0 and less than 1, it is %g", ratio)
	}
	switch {
	case scaleTrain:
		l.scale = 1 / (1 - ratio)
	case l.Train():
		l.scale = 1
	default:
		l.scale = 1 - ratio
	}
	l.below = uint32(math.Ceil(float64(ratio) * (1 << vec.UniformBits)))
	return nil
}

func (l *dropout) Reshape(bottom, top []*blob.Blob) error {
	if top[0] != bottom[0] {
		top[0].ReshapeLike(bottom[0])
	}
	if l.count == bottom[0].Count() || l.MPE() {
		return nil
	}
	l.count = bottom[0].Count()
	var err error
	l.stream, err = stream.New(l.Device.Machine, stream.Pass{
		Name: "Dropout", Dims: [3]int{1, 1, l.count}, Ins: part.Arrays(1), Outs: part.Arrays(1), Cost: stream.Work{Flops: 8},
		Op: func(t *stream.Tile) { l.mask(t.Out[0][:t.I], t.In[0], t.I0) },
	})
	return err
}

// mask writes the kept values of src, scaled, and zeros for the others. src begins at element first of the pass.
func (l *dropout) mask(dst, src []float32, first int) {
	switch {
	case l.copies:
		copy(dst, src)
		return
	case !l.Train():
		vec.Scale(dst, src, l.scale)
		return
	}
	vec.Drop(dst, src, l.key, uint64(first), l.below, l.scale)
}

func (l *dropout) run(dst, src []float32) error {
	if l.MPE() {
		l.mask(dst, src, 0)
		return nil
	}
	l.ins[0], l.outs[0] = src, dst
	return l.stream.Run(l.ins[:], l.outs[:])
}

func (l *dropout) Forward(bottom, top []*blob.Blob) error {
	if l.Train() {
		l.key = l.Device.Share.PassKey(l.Device.Random.Uint64())
	} else if l.copies && top[0] == bottom[0] {
		return nil
	}
	return l.run(top[0].Data(), bottom[0].Data())
}

// Traits implements Planned. Backward recomputes the mask from random numbers, which depend on an element's index: training therefore needs
// planes.
func (l *dropout) Traits() layers.Traits {
	t := layers.Traits{Unread: layers.ReadsNothing}
	if !l.Train() {
		t.Layout = l.AnyLayout()
	}
	return t
}

func (l *dropout) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if !propagateDown[0] || l.copies && top[0] == bottom[0] {
		return nil
	}
	return l.run(bottom[0].Diff(), top[0].Diff())
}
