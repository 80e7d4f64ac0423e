package vision

import (
	"math"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/pool"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
)

// lrnWithin is Caffe's LRN layer within a channel. p is the mean of x^2 over local_size x local_size values, with padding counted as in
// pooling. As in Caffe, k is not used.
//
//	y = x * (1 + alpha*p)^-beta,
//	dx = dy*(1+alpha*p)^-beta + 2x * (the mean's gradient of dy * x * -alpha*beta*(1+alpha*p)^(-beta-1)).
type lrnWithin struct {
	layers.Base
	size        int
	alpha, beta float32
	shape       pool.Shape

	square, mean, factor, spread *blob.Blob // x^2, p, (1+alpha*p)^-beta and the mean's gradient

	squares, output, inner, finish *stream.Kernel
	pool                           *pool.Kernel
	ins                            [4][]float32
	outs                           [2][]float32
}

func (l *lrnWithin) SetUp(bottom, _ []*blob.Blob) (err error) {
	p := l.Param.GetLrnParam()
	l.alpha, l.beta = p.GetAlpha(), p.GetBeta()
	for _, b := range []**blob.Blob{&l.square, &l.mean, &l.factor, &l.spread} {
		*b = l.Device.NewBlob(0)
	}
	l.size, err = lrnSize(p, bottom[0])
	return err
}

func (l *lrnWithin) Reshape(bottom, top []*blob.Blob) error {
	if err := part.CheckImages(bottom[0]); err != nil {
		return err
	}
	top[0].ReshapeLike(bottom[0])
	in, pad := bottom[0].Shape(), (l.size-1)/2
	shape := pool.Shape{
		N: in[0], C: in[1], H: in[2], W: in[3], KH: l.size, KW: l.size, SH: 1, SW: 1, PH: pad, PW: pad,
		OH: in[2], OW: in[3], Method: pool.Ave, Train: l.Train(),
	}
	if l.shape == shape {
		return nil
	}
	l.shape = shape
	for _, b := range []*blob.Blob{l.square, l.mean, l.factor, l.spread} {
		b.ReshapeLike(bottom[0])
	}
	if l.MPE() {
		return nil
	}
	return l.prepare(bottom[0].Count())
}

func (l *lrnWithin) prepare(count int) (err error) {
	if l.pool, err = pool.New(l.Device.Machine, l.shape); err != nil {
		return err
	}
	streams := part.StreamsOf(&l.Base)
	pass := func(name string, ins, outs int, specials float64, op func(t *stream.Tile)) *stream.Kernel {
		return streams.Make(stream.Pass{
			Name: name, Dims: [3]int{1, 1, count}, Ins: part.Arrays(ins), Outs: part.Arrays(outs),
			Cost: stream.Work{Flops: 3, Specials: specials}, Op: op,
		})
	}
	l.squares = pass("LRN squares", 1, 1, 0, func(t *stream.Tile) { vec.Square(t.Out[0][:t.I], t.In[0]) })
	l.output = pass("LRN", 2, 2, 2, func(t *stream.Tile) {
		factor := t.Out[1][:t.I]
		vec.Affine(factor, t.In[1], l.alpha, 1)
		vec.Pow(factor, factor, -l.beta)
		vec.Mul(t.Out[0][:t.I], t.In[0], factor)
	})
	l.inner = pass("LRN inner gradient", 4, 1, 1, func(t *stream.Tile) {
		g := t.Out[0][:t.I]
		vec.Affine(g, t.In[2], l.alpha, 1)
		vec.Div(g, t.In[3], g) // (1+alpha*p)^(-beta-1)
		vec.Mul(g, g, t.In[0])
		vec.Mul(g, g, t.In[1])
		vec.Scale(g, g, -l.alpha*l.beta)
	})
	l.finish = pass("LRN gradient", 4, 1, 0, func(t *stream.Tile) {
		dx := t.Out[0][:t.I]
		vec.Mul(dx, t.In[0], t.In[1])
		vec.MulAdd(dx, t.In[2], t.In[3])
		vec.MulAdd(dx, t.In[2], t.In[3])
	})
	return streams.Err
}

func (l *lrnWithin) Forward(bottom, top []*blob.Blob) error {
	x, y, square, mean, factor := bottom[0].Data(), top[0].Data(), l.square.Data(), l.mean.Data(), l.factor.Data()
	if l.MPE() {
		for i, v := range x {
			square[i] = v * v
		}
		poolForwardMPE(&l.shape, square, mean, nil, 0)
		for i, v := range x {
			f := math.Pow(1+float64(l.alpha)*float64(mean[i]), -float64(l.beta))
			factor[i], y[i] = float32(f), float32(float64(v)*f)
		}
		return nil
	}
	l.ins[0], l.outs[0] = x, square
	if err := l.squares.Run(l.ins[:1], l.outs[:1]); err != nil {
		return err
	}
	if err := l.pool.Forward(square, mean, nil, 0); err != nil {
		return err
	}
	l.ins[1], l.outs = mean, [2][]float32{y, factor}
	return l.output.Run(l.ins[:2], l.outs[:])
}

// Traits implements Planned. Backward reads x, the means and their powers.
func (l *lrnWithin) Traits() layers.Traits {
	return layers.Traits{Unread: layers.Unread{Tops: true}, Keeps: []*blob.Blob{l.mean, l.factor}}
}

func (l *lrnWithin) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if !propagateDown[0] {
		return nil
	}
	x, dy, dx := bottom[0].Data(), top[0].Diff(), bottom[0].Diff()
	mean, inner, spread := l.mean.Data(), l.square.Diff(), l.spread.Data()
	if l.MPE() {
		for i, g := range dy {
			p := 1 + float64(l.alpha)*float64(mean[i])
			inner[i] = float32(-float64(l.alpha) * float64(l.beta) * math.Pow(p, -float64(l.beta)-1) * float64(g) * float64(x[i]))
		}
		poolBackwardMPE(&l.shape, inner, nil, spread)
		for i, g := range dy {
			dx[i] = g*l.factor.Data()[i] + 2*x[i]*spread[i]
		}
		return nil
	}
	l.ins, l.outs[0] = [4][]float32{dy, x, mean, l.factor.Data()}, inner
	if err := l.inner.Run(l.ins[:], l.outs[:1]); err != nil {
		return err
	}
	if err := l.pool.Backward(inner, nil, spread); err != nil {
		return err
	}
	l.ins, l.outs[0] = [4][]float32{dy, l.factor.Data(), x, spread}, dx
	return l.finish.Run(l.ins[:], l.outs[:1])
}
