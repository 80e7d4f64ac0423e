package utility

import (
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "Split", Doc: "gives one bottom to several readers; their gradients add up",
		Params: []string{},
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &split{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(1), Tops: layers.AtLeast(1),
	})
}

// split is Caffe's Split layer. The tops share the bottom's data.
type split struct {
	layers.Base
	count, tops int
	sum         *stream.Kernel
	ins         [][]float32
	outs        [1][]float32
}

// NewSplit returns a Split layer, for layers composed of other layers.
func NewSplit(b layers.Base) layers.Layer { return &split{Base: b} }

func (l *split) SetUp(_, _ []*blob.Blob) error { return nil }

func (l *split) Reshape(bottom, top []*blob.Blob) error {
	for i, t := range top {
		if t == bottom[0] {
			return fmt.Errorf("a Split layer does not run in place: top[%d] is its bottom", i)
		}
		t.ReshapeLike(bottom[0])
		t.ShareData(bottom[0])
	}
	if l.tops == len(top) && l.count == bottom[0].Count() {
		return nil
	}
	l.tops, l.count = len(top), bottom[0].Count()
	l.ins = make([][]float32, len(top))
	if l.MPE() {
		return nil
	}
	var err error
	l.sum, err = stream.New(l.Device.Machine, stream.Pass{
		Name: "split gradient", Dims: [3]int{1, 1, l.count}, Ins: part.Arrays(len(top)), Outs: part.Arrays(1),
		Cost: stream.Work{Flops: float64(len(top) - 1)},
		Op: func(t *stream.Tile) {
			dst := t.Out[0][:t.I]
			copy(dst, t.In[0])
			for _, x := range t.In[1:] {
				vec.Add(dst, dst, x)
			}
		},
	})
	return err
}

func (l *split) Forward(_, _ []*blob.Blob) error { return nil }

// Traits implements Planned. Backward adds up gradients.
func (l *split) Traits() layers.Traits {
	return layers.Traits{Unread: layers.ReadsNothing, Grads: layers.Grads{Sums: !l.MPE()}, Layout: l.AnyLayout()}
}

func (l *split) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if !propagateDown[0] || top[0].SharesDiff(bottom[0]) {
		return nil
	}
	for i, t := range top {
		l.ins[i] = t.Diff()
	}
	dx := bottom[0].Diff()
	if !l.MPE() {
		l.outs[0] = dx
		return l.sum.Run(l.ins, l.outs[:])
	}
	for i := range dx {
		dx[i] = 0
		for _, d := range l.ins {
			dx[i] += d[i]
		}
	}
	return nil
}
