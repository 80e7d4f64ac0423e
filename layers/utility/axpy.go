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
		Name: "Axpy", Doc: "a*x + y, with one factor a for each plane of x",
		Params: []string{},
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &axpy{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(3), Tops: layers.Exactly(1),
	})
}

// axpy is the Axpy layer of SENet (Hu et al. 2018): the top is a(n,c) * x(n,c,...) + y(n,c,...). da is the sum of dtop * x over a plane, dx is
// dtop * a, and dy is dtop.
type axpy struct {
	layers.Base
	dims [3]int // 1 x planes x values of a plane

	forward, sum, scale *stream.Kernel
	move                part.Mover
	ins                 [3][]float32
	outs                [1][]float32
}

func (l *axpy) SetUp(_, _ []*blob.Blob) error { return nil }

func (l *axpy) Reshape(bottom, top []*blob.Blob) error {
	a, x := bottom[0], bottom[1]
	if !part.SameShape(x, bottom[2]) {
		return fmt.Errorf("bottom[1] and bottom[2] must have the same shape: %s and %s", x.ShapeString(), bottom[2].ShapeString())
	}
	if a.NumAxes() < 2 || x.NumAxes() < 2 || a.Dim(0) != x.Dim(0) || a.Dim(1) != x.Dim(1) || a.CountFrom(2) != 1 {
		return fmt.Errorf("bottom[0] must have one factor for each channel of bottom[1]: %s and %s", a.ShapeString(), x.ShapeString())
	}
	top[0].ReshapeLike(x)
	dims := [3]int{1, a.Count(), x.CountFrom(2)}
	if l.dims == dims {
		return nil
	}
	l.dims = dims
	var err error
	if l.move, err = part.NewMover(&l.Base, 1, x.Count()); err != nil || l.MPE() {
		return err
	}
	streams := part.StreamsOf(&l.Base)
	l.forward = streams.Make(stream.Pass{
		Name: "Axpy", Dims: dims, Ins: part.Arrays(2, stream.Row), Outs: part.Arrays(1), Cost: stream.Work{Flops: 2},
		Op: part.ByRow(func(t *stream.Tile, at, n, m int) {
			top, x, y := t.Out[0][at:at+n], t.In[0][at:], t.In[1][at:]
			if t.I == 1 {
				vec.Mul(top, x, t.In[2])
			} else {
				vec.Scale(top, x, t.In[2][m])
			}
			vec.Add(top, top, y)
		}),
	})
	l.sum = streams.Make(stream.Pass{
		Name: "Axpy factor gradient", Dims: dims, Ins: part.Arrays(2), Sums: 1, Cost: stream.Work{Flops: 2},
		Op: part.ByRow(func(t *stream.Tile, at, n, m int) {
			if g, x := t.In[0][at:at+n], t.In[1][at:at+n]; t.I == 1 {
				vec.ColumnProducts(t.Sum[:n], g, x)
			} else {
				t.Sum[m] += vec.Dot(g, x)
			}
		}),
	})
	l.scale = streams.Make(stream.Pass{
		Name: "Axpy gradient", Dims: dims, Ins: part.Arrays(1, stream.Row), Outs: part.Arrays(1), Cost: stream.Work{Flops: 1},
		Op: part.ByRow(func(t *stream.Tile, at, n, m int) {
			if dx, g := t.Out[0][at:at+n], t.In[0][at:]; t.I == 1 {
				vec.Mul(dx, g, t.In[1])
			} else {
				vec.Scale(dx, g, t.In[1][m])
			}
		}),
	})
	return streams.Err
}

func (l *axpy) Forward(bottom, top []*blob.Blob) error {
	a, x, y, z := bottom[0].Data(), bottom[1].Data(), bottom[2].Data(), top[0].Data()
	if !l.MPE() {
		l.ins, l.outs[0] = [3][]float32{x, y, a}, z
		return l.forward.Run(l.ins[:], l.outs[:])
	}
	for i := range z {
		z[i] = a[i/l.dims[2]]*x[i] + y[i]
	}
	return nil
}

// Traits implements Planned. The gradient of y is that of the top.
func (l *axpy) Traits() layers.Traits {
	return layers.Traits{
		Unread: layers.Unread{Bottoms: layers.SomeBottoms(2), Tops: true},
		Grads:  layers.Grads{Passes: layers.SomeBottoms(2)},
	}
}

func (l *axpy) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	g := top[0].Diff()
	if propagateDown[0] {
		if err := l.factorGrad(bottom[0].Diff(), g, bottom[1].Data()); err != nil {
			return err
		}
	}
	if propagateDown[1] {
		if err := l.scaled(bottom[1].Diff(), g, bottom[0].Data()); err != nil {
			return err
		}
	}
	if !propagateDown[2] || top[0].SharesDiff(bottom[2]) {
		return nil
	}
	return l.move.Run(bottom[2].Diff(), g)
}

// factorGrad computes da.
func (l *axpy) factorGrad(da, g, x []float32) error {
	if !l.MPE() {
		l.ins[0], l.ins[1] = g, x
		if err := l.sum.Run(l.ins[:2], nil); err != nil {
			return err
		}
		for m, s := range l.sum.Sums() {
			da[m] = float32(s)
		}
		return nil
	}
	for m := range da {
		var sum float64
		for i := m * l.dims[2]; i < (m+1)*l.dims[2]; i++ {
			sum += float64(g[i]) * float64(x[i])
		}
		da[m] = float32(sum)
	}
	return nil
}

// scaled computes dx = g * a.
func (l *axpy) scaled(dx, g, a []float32) error {
	if !l.MPE() {
		l.ins[0], l.ins[1], l.outs[0] = g, a, dx
		return l.scale.Run(l.ins[:2], l.outs[:])
	}
	for i := range dx {
		dx[i] = g[i] * a[i/l.dims[2]]
	}
	return nil
}
