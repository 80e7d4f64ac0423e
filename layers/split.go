package layers

import (
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	Register(Type{
		Name: "Split", Doc: "gives one bottom to several readers; their gradients add up",
		New: func(p *caffepb.LayerParameter, d *Device) Layer {
			return &split{Base: Base{Param: p, Device: d}}
		},
		Bottoms: Exactly(1), Tops: AtLeast(1),
	})
}

// split is Caffe's Split layer. The tops share the bottom's data.
type split struct {
	Base
	count, tops int
	sum         *stream.Kernel
	ins         [][]float32
	outs        [1][]float32
}

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
	if l.mpe() {
		return nil
	}
	var err error
	l.sum, err = stream.New(l.Device.Machine, stream.Pass{
		Name: "split gradient", Dims: [3]int{1, 1, l.count}, Ins: arrays(len(top)), Outs: arrays(1),
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

// Traits implements Planned: Backward adds up gradients.
func (l *split) Traits() Traits {
	return Traits{Unread: unread, Grads: Grads{Sums: !l.mpe()}, Layout: l.anyLayout()}
}

func (l *split) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if !propagateDown[0] || top[0].SharesDiff(bottom[0]) {
		return nil
	}
	for i, t := range top {
		l.ins[i] = t.Diff()
	}
	dx := bottom[0].Diff()
	if !l.mpe() {
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
