package neuron

import (
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/pages"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

func init() {
	layers.Register(layers.Type{
		Name: "PReLU", Doc: "y = max(x, 0) + a * min(x, 0), a learnt by channel",
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &prelu{Base: layers.Base{Param: p, Device: d}, shared: p.GetPreluParam().GetChannelShared()}
		},
		Bottoms: layers.Exactly(1), Tops: layers.Exactly(1), InPlace: true,
	})
}

// prelu is Caffe's PReLU layer (He et al. 2015). It has one slope per channel (axis 1), or a single one (channel_shared). Slopes start at
// 0.25 unless there is a filler. The gradient with respect to a slope is the sum of dy * min(x, 0).
type prelu struct {
	layers.Base
	shared  bool
	dims    [3]int
	axes    int  // of the bottom
	blocked bool // bottom and top have channels in blocks
	inPlace bool
	saved   *blob.Blob // a copy of x, if the layer runs in place
	finish  preluFinish

	forward, sums, backward *stream.Kernel
	ins                     [3][]float32
	outs                    [2][]float32
}

func (l *prelu) SetUp(bottom, _ []*blob.Blob) error {
	if bottom[0].NumAxes() < 2 {
		return fmt.Errorf("number of axes of bottom blob must be >= 2: it has shape %s", bottom[0].ShapeString())
	}
	filler := l.Param.GetPreluParam().GetFiller()
	if filler == nil {
		filler = &caffepb.FillerParameter{Value: proto.Float32(0.25)}
	}
	l.saved = l.Device.NewBlob(0)
	if l.shared {
		return l.AddWeight(filler)
	}
	return l.AddWeight(filler, bottom[0].Dim(1))
}

func (l *prelu) Reshape(bottom, top []*blob.Blob) error {
	if bottom[0].NumAxes() < 2 {
		return fmt.Errorf("number of axes of bottom blob must be >= 2: it has shape %s", bottom[0].ShapeString())
	}
	if l.inPlace = top[0] == bottom[0]; l.inPlace {
		l.saved.ReshapeLike(bottom[0])
	} else {
		top[0].ReshapeLike(bottom[0])
	}
	dims := [3]int{bottom[0].Dim(0), bottom[0].Dim(1), bottom[0].CountFrom(2)}
	if l.shared {
		dims = [3]int{1, 1, bottom[0].Count()}
	} else if n := l.Weights[0].Count(); n != dims[1] {
		return fmt.Errorf("there are %d slopes, but bottom[0] has %d channels (%s)", n, dims[1], bottom[0].ShapeString())
	}
	l.axes = bottom[0].NumAxes()
	if err := l.blocking(dims).Check(layers.Arranged{In: layers.Blocks(l.blocked), Out: layers.Blocks(l.blocked)}); err != nil || l.dims == dims {
		return err
	}
	l.dims = dims
	if l.MPE() {
		return nil
	}
	return l.prepare()
}

func (l *prelu) Forward(bottom, top []*blob.Blob) error {
	x, y, a := bottom[0].Data(), top[0].Data(), l.Weights[0].Data()
	if !l.MPE() {
		l.ins[0], l.ins[1], l.outs[0] = x, a, y
		if !l.inPlace {
			return l.forward.Run(l.ins[:2], l.outs[:1])
		}
		l.outs[1] = l.saved.Data()
		return l.forward.Run(l.ins[:2], l.outs[:])
	}
	if l.inPlace {
		copy(l.saved.Data(), x)
	}
	for i, v := range x {
		y[i] = rectified(v, a[i/l.dims[2]%l.dims[1]])
	}
	return nil
}

// Traits implements Planned. The gradients depend on x; if the layer runs in place, Forward keeps a copy.
func (l *prelu) Traits() layers.Traits {
	t := layers.Traits{Unread: layers.Unread{Bottoms: layers.BottomsIf(l.inPlace), Tops: true}, Layout: l.blocking(l.dims)}
	if l.inPlace {
		t.Keeps = []*blob.Blob{l.saved}
	}
	if l.Blockable() {
		l.finish.layer = l
		t.Is.Finish = &l.finish
	}
	return t
}

// blocking returns the layouts for an array of shape dims. A single slope permits any.
func (l *prelu) blocking(dims [3]int) layers.Blocking {
	if l.shared {
		return l.AnyLayout()
	}
	return l.InBlocks(l.axes, dims)
}

// Arrange implements Planned.
func (l *prelu) Arrange(a layers.Arranged) error {
	if l.blocked == a.In.Blocks {
		return nil
	}
	l.blocked = a.In.Blocks
	return l.prepare()
}

func (l *prelu) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	x, dy, a := bottom[0].Data(), top[0].Diff(), l.Weights[0].Data()
	if l.inPlace {
		x = l.saved.Data()
	}
	if l.ParamGrad(0) {
		if err := l.slopeGrad(dy, x); err != nil {
			return err
		}
	}
	if !propagateDown[0] {
		return nil
	}
	dx := bottom[0].Diff()
	if !l.MPE() {
		l.ins, l.outs[0] = [3][]float32{dy, x, a}, dx
		return l.backward.Run(l.ins[:], l.outs[:1])
	}
	for i, g := range dy {
		if dx[i] = g; !(x[i] > 0) {
			dx[i] = g * a[i/l.dims[2]%l.dims[1]]
		}
	}
	return nil
}

// slopeGrad adds the sums of dy * min(x, 0) to the slopes' gradients.
func (l *prelu) slopeGrad(dy, x []float32) error {
	var sums []float64
	if l.MPE() {
		sums = pages.Make[float64](l.dims[1])
		for i, g := range dy {
			sums[i/l.dims[2]%l.dims[1]] += float64(g) * float64(min(x[i], 0))
		}
	} else {
		l.ins[0], l.ins[1] = dy, x
		if err := l.sums.Run(l.ins[:2], nil); err != nil {
			return err
		}
		sums = l.sums.Sums()
	}
	part.AddTo(l.Weights[0].Diff(), sums)
	return nil
}
