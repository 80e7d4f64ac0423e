package utility

import (
	"errors"
	"fmt"
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
		Name: "Eltwise", Doc: "sum (with coefficients), product or maximum of bottoms, element by element",
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &eltwise{Base: layers.Base{Param: p, Device: d}, count: -1}
		},
		Bottoms: layers.AtLeast(2), Tops: layers.Exactly(1),
	})
}

// eltwise is Caffe's Eltwise layer. Among equal maxima the earlier bottom wins, except that the second bottom wins over the first: as in
// Caffe, the first wins only with a larger value.
type eltwise struct {
	layers.Base
	op     caffepb.EltwiseParameter_EltwiseOp
	coeff  []float32
	stable bool
	count  int
	dims   [3]int     // items, channels and values of a channel
	winner *blob.Blob // MAX: the bottom that supplied each element

	steps   part.Steps
	blocked bool // channels are in blocks

	forward, backward *stream.Kernel
	ins, outs         [][]float32
	target            int // the bottom whose gradient Backward computes
	finish            sumFinish
}

func (l *eltwise) SetUp(bottom, _ []*blob.Blob) error {
	p := l.Param.GetEltwiseParam()
	l.op, l.stable = p.GetOperation(), p.GetStableProdGrad()
	switch n := len(p.GetCoeff()); {
	case n > 0 && n != len(bottom):
		return fmt.Errorf("eltwise layer takes one coefficient per bottom blob: %d coefficients for %d bottoms", n, len(bottom))
	case n > 0 && l.op == caffepb.EltwiseParameter_PROD:
		return errors.New("eltwise layer only takes coefficients for summation, not for products")
	}
	for i := range bottom {
		l.coeff = append(l.coeff, 1)
		if len(p.GetCoeff()) > 0 {
			l.coeff[i] = p.GetCoeff()[i]
		}
	}
	l.ins, l.outs, l.winner = make([][]float32, len(bottom)+3), make([][]float32, 2), l.Device.NewBlob(0)
	return nil
}

func (l *eltwise) Reshape(bottom, top []*blob.Blob) error {
	if err := part.CheckSameShape(bottom); err != nil {
		return err
	}
	top[0].ReshapeLike(bottom[0])
	if l.count == bottom[0].Count() {
		return nil
	}
	l.count = bottom[0].Count()
	l.dims = [3]int{bottom[0].Legacy(0), bottom[0].Legacy(1), l.count / max(1, bottom[0].Legacy(0)*bottom[0].Legacy(1))}
	if l.op == caffepb.EltwiseParameter_MAX {
		l.winner.Reshape(l.count)
	}
	if l.MPE() {
		return nil
	}
	return l.prepare(len(bottom))
}

// prepare makes the kernels for n bottoms.
func (l *eltwise) prepare(n int) error {
	outs := 1
	if l.op == caffepb.EltwiseParameter_MAX {
		outs = 2
	}
	dims, cost, streams := [3]int{1, 1, l.count}, stream.Work{Flops: float64(n)}, part.StreamsOf(&l.Base)
	forward := stream.Pass{Name: "eltwise", Dims: dims, Ins: part.Arrays(n), Outs: part.Arrays(outs), Cost: cost, Op: part.ByRow(l.steps.After(l.forwardRow))}
	if l.steps.ByChannel() {
		forward = part.BlockedStream(forward, l.dims, l.blocked)
	}
	l.forward = streams.Make(forward)
	l.backward = streams.Make(stream.Pass{
		Name: "eltwise gradient", Dims: dims, Ins: part.Arrays(l.gradIns(n)), Outs: part.Arrays(1), Cost: cost, Op: l.backwardTile,
	})
	return streams.Err
}

// gradIns returns the number of arrays a gradient needs: dy; dy and the winners; or dy, y and all bottoms.
func (l *eltwise) gradIns(n int) int {
	switch l.op {
	case caffepb.EltwiseParameter_SUM:
		return 1
	case caffepb.EltwiseParameter_MAX:
		return 2
	}
	return n + 2
}

// forwardRow computes a row of a tile.
func (l *eltwise) forwardRow(t *stream.Tile, at, n, _ int) {
	y, xs := t.Out[0][at:at+n], t.In
	switch l.op {
	case caffepb.EltwiseParameter_SUM:
		rest := 1
		if l.coeff[0] == 1 && l.coeff[1] == 1 {
			vec.Add(y, xs[0][at:at+n], xs[1][at:at+n])
			rest = 2
		} else {
			vec.Scale(y, xs[0][at:at+n], l.coeff[0])
		}
		for k := rest; k < len(xs); k++ {
			vec.Axpy(y, xs[k][at:at+n], l.coeff[k])
		}
	case caffepb.EltwiseParameter_PROD:
		vec.Mul(y, xs[0][at:at+n], xs[1][at:at+n])
		for _, x := range xs[2:] {
			vec.Mul(y, y, x[at:at+n])
		}
	default:
		maximum(y, t.Out[1][at:at+n], xs, at)
	}
}

// maximum writes the largest of each element's values, from value at on, and the index of its bottom. NaN is larger than no value, and no
// value is larger than NaN.
func maximum(y, winner []float32, xs [][]float32, at int) {
	end := at + len(y)
	vec.Fill(winner, 1)
	vec.Take(winner, xs[0][at:end], xs[1][at:end], 0)
	vec.Larger(y, xs[0][at:end], xs[1][at:end])
	for k, x := range xs[2:] {
		vec.Take(winner, x[at:end], y, float32(k+2))
		vec.Larger(y, x[at:end], y)
	}
}

func (l *eltwise) backwardTile(t *stream.Tile) {
	dx, dy := t.Out[0][:t.I], t.In[0]
	switch l.op {
	case caffepb.EltwiseParameter_SUM:
		vec.Scale(dx, dy, l.coeff[l.target])
	case caffepb.EltwiseParameter_MAX:
		vec.Where(dx, dy, t.In[1], float32(l.target))
	case caffepb.EltwiseParameter_PROD:
		if !l.stable {
			vec.Div(dx, t.In[1], t.In[2+l.target])
			vec.Mul(dx, dx, dy)
			return
		}
		copy(dx, dy)
		for k, x := range t.In[2:] {
			if k != l.target {
				vec.Mul(dx, dx, x)
			}
		}
	}
}

func (l *eltwise) Forward(bottom, top []*blob.Blob) error {
	for i, b := range bottom {
		l.ins[i] = b.Data()
	}
	xs, y := l.ins[:len(bottom)], top[0].Data()
	if !l.MPE() {
		l.steps.To(y)
		l.outs[0], l.outs[1] = y, l.winner.Data()
		if l.op == caffepb.EltwiseParameter_MAX {
			return l.forward.Run(xs, l.outs)
		}
		return l.forward.Run(xs, l.outs[:1])
	}
	l.forwardMPE(xs, y)
	return nil
}

// plain reports whether the layer is a sum without coefficients on the CPE path.
func (l *eltwise) plain() bool {
	return !l.MPE() && l.op == caffepb.EltwiseParameter_SUM && !slices.ContainsFunc(l.coeff, func(c float32) bool { return c != 1 })
}

// Traits implements Planned. Only products have gradients that depend on values. A sum without coefficients passes its gradient on
// unchanged.
func (l *eltwise) Traits() layers.Traits {
	product := l.op == caffepb.EltwiseParameter_PROD
	t := layers.Traits{Unread: layers.Unread{Bottoms: layers.BottomsIf(!product), Tops: !product || l.stable}, Layout: l.AnyLayout(), Joins: layers.Joins{Finish: l.Blockable()}}
	if l.plain() {
		t.Grads.Passes, t.Is.Sum = layers.AllBottoms, len(l.coeff)
	}
	if l.plain() && len(l.coeff) == 2 && l.Blockable() {
		t.Is.Finish, t.Is.Symmetric = &l.finish, true
	}
	if l.op == caffepb.EltwiseParameter_MAX {
		t.Keeps = []*blob.Blob{l.winner}
	}
	return t
}

// Arrange implements Planned.
func (l *eltwise) Arrange(a layers.Arranged) error {
	l.blocked = a.In.Blocks
	if !l.steps.Arrange(a.Steps) || l.forward == nil {
		return nil
	}
	return l.prepare(len(l.coeff))
}

func (l *eltwise) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if shareDiff(top[0], bottom) {
		return nil
	}
	dy, y := top[0].Diff(), top[0].Data()
	for target, b := range bottom {
		if !propagateDown[target] {
			continue
		}
		if l.MPE() {
			l.gradMPE(target, dy, y, bottom)
			continue
		}
		l.target = target
		l.ins[0], l.outs[0] = dy, b.Diff()
		switch l.op {
		case caffepb.EltwiseParameter_MAX:
			l.ins[1] = l.winner.Data()
		case caffepb.EltwiseParameter_PROD:
			l.ins[1] = y
			for k, x := range bottom {
				l.ins[2+k] = x.Data()
			}
		}
		if err := l.backward.Run(l.ins[:l.gradIns(len(bottom))], l.outs[:1]); err != nil {
			return err
		}
	}
	return nil
}

// shareDiff reports whether the bottoms' gradients share the top's storage.
func shareDiff(top *blob.Blob, bottom []*blob.Blob) bool {
	return !slices.ContainsFunc(bottom, func(b *blob.Blob) bool { return !b.SharesDiff(top) })
}
