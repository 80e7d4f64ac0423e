package utility

import (
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// rectifiedSum computes an Eltwise sum and the ReLU layer after it in one pass: y = relu(sum of coeff[k] * x[k]). Backward writes the
// gradients of all bottoms in one pass: dx[k] = coeff[k] * g, with g = dy where y > 0, else the negative slope times dy.
type rectifiedSum struct {
	layers.Base
	sum   *eltwise
	slope float32
	count int

	forward *stream.Kernel
	all     *stream.Kernel // computes the gradients of all bottoms
	one     *stream.Kernel // computes the gradient of bottom target
	target  int
	ins     [2][]float32
	xs, dxs [][]float32
	finish  sumFinish
}

func init() { layers.RegisterFusion(layers.Fusion{Name: "sum-relu", Fuse: fuseSumReLU}) }

// fuseSumReLU combines a sum with a ReLU layer whose gradient depends on the sign of y.
func fuseSumReLU(first, second layers.Layer) layers.Layer {
	l, ok := first.(*eltwise)
	relu := layers.TraitsOf(second).Is.ReLU
	if !ok || relu == nil || !relu.BySign || l.MPE() || l.op != caffepb.EltwiseParameter_SUM {
		return nil
	}
	return &rectifiedSum{Base: l.Base, sum: l, slope: relu.Slope, count: -1}
}

func (l *rectifiedSum) SetUp(_, _ []*blob.Blob) error { return nil }

func (l *rectifiedSum) Reshape(bottom, top []*blob.Blob) error {
	if err := l.sum.Reshape(bottom, top); err != nil || l.count == bottom[0].Count() {
		return err
	}
	l.count = bottom[0].Count()
	l.xs, l.dxs = make([][]float32, len(bottom)), make([][]float32, len(bottom))
	return l.prepare(len(bottom))
}

// prepare makes the kernels for n bottoms.
func (l *rectifiedSum) prepare(n int) error {
	streams := part.StreamsOf(&l.Base)
	pass := func(what string, ins, outs int, op func(t *stream.Tile)) *stream.Kernel {
		return streams.Make(stream.Pass{
			Name: "eltwise and ReLU" + what, Dims: [3]int{1, 1, l.count}, Ins: part.Arrays(ins), Outs: part.Arrays(outs),
			Cost: stream.Work{Flops: float64(n + 1)}, Op: op,
		})
	}
	l.forward = pass("", n, 1, l.forwardTile)
	l.all = pass(" gradient", 2, n, l.gradsTile)
	l.one = pass(" gradient", 2, 1, l.gradTile)
	return streams.Err
}

func (l *rectifiedSum) forwardTile(t *stream.Tile) {
	l.sum.forwardRow(t, 0, t.I, 0)
	y := t.Out[0][:t.I]
	vec.ReLU(y, y, l.slope)
}

// gradTile computes the gradient of bottom target, gradsTile those of all bottoms.
func (l *rectifiedSum) gradTile(t *stream.Tile) {
	dx := t.Out[0][:t.I]
	vec.ReLUGrad(dx, t.In[0], t.In[1], l.slope)
	scaleUnlessOne(dx, dx, l.sum.coeff[l.target])
}

func (l *rectifiedSum) gradsTile(t *stream.Tile) {
	g := t.Out[0][:t.I]
	vec.ReLUGrad(g, t.In[0], t.In[1], l.slope)
	for k := len(t.Out) - 1; k >= 0; k-- {
		scaleUnlessOne(t.Out[k][:t.I], g, l.sum.coeff[k])
	}
}

// scaleUnlessOne writes x * factor, or copies x if factor is 1.
func scaleUnlessOne(dst, x []float32, factor float32) {
	if factor == 1 {
		copy(dst, x)
		return
	}
	vec.Scale(dst, x, factor)
}

func (l *rectifiedSum) Forward(bottom, top []*blob.Blob) error {
	for k, b := range bottom {
		l.xs[k] = b.Data()
	}
	l.ins[0] = top[0].Data()
	return l.forward.Run(l.xs, l.ins[:1])
}

// Traits implements Planned. The sign of y decides which gradients pass.
func (l *rectifiedSum) Traits() layers.Traits {
	t := layers.Traits{Unread: layers.Unread{Bottoms: layers.AllBottoms}, Grads: layers.Grads{Passes: layers.BottomsIf(l.sum.plain())}, Layout: l.AnyLayout()}
	l.finish.rectify, l.finish.slope = true, l.slope
	l.sum.finishes(&t, &l.finish)
	return t
}

func (l *rectifiedSum) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	l.ins = [2][]float32{top[0].Diff(), top[0].Data()}
	if shareDiff(top[0], bottom) {
		l.target, l.dxs[0] = 0, bottom[0].Diff()
		return l.one.Run(l.ins[:], l.dxs[:1])
	}
	for k, b := range bottom {
		if propagateDown[k] {
			l.dxs[k] = b.Diff()
		}
	}
	if !slices.Contains(propagateDown, false) {
		return l.all.Run(l.ins[:], l.dxs)
	}
	for k := range bottom {
		if !propagateDown[k] {
			continue
		}
		l.target = k
		if err := l.one.Run(l.ins[:], l.dxs[k:k+1]); err != nil {
			return err
		}
	}
	return nil
}
