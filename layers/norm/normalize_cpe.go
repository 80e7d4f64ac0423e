package norm

import (
	"math"

	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers/part"
)

// prepareItems makes the kernels that normalise items. They go by plane: the norms of items become factors of planes.
func (l *normalize) prepareItems() error {
	planes := l.dims[0] * l.dims[1]
	dims, streams := [3]int{1, planes, l.dims[2]}, part.StreamsOf(&l.Base)
	l.factors, l.terms = make([]float32, planes), make([]float32, planes)
	l.squares = streams.Make(stream.Pass{
		Name: "Normalize squares", Dims: dims, Ins: part.Arrays(1), Sums: 1, Cost: stream.Work{Flops: 2},
		Op: part.ByRow(func(t *stream.Tile, at, n, m int) {
			if x := t.In[0][at : at+n]; t.I == 1 {
				vec.ColumnProducts(t.Sum[:n], x, x)
			} else {
				t.Sum[m] += vec.SumSq(x)
			}
		}),
	})
	l.apply = streams.Make(stream.Pass{
		Name: "Normalize", Dims: dims, Ins: part.Arrays(1, stream.Row), Outs: part.Arrays(1), Cost: stream.Work{Flops: 1},
		Op: part.ByRow(scaleFirst),
	})
	l.products = streams.Make(stream.Pass{
		Name: "Normalize products", Dims: dims, Ins: part.Arrays(2), Sums: 1, Cost: stream.Work{Flops: 2},
		Op: part.ByRow(func(t *stream.Tile, at, n, m int) {
			if dy, x := t.In[0][at:at+n], t.In[1][at:at+n]; t.I == 1 {
				vec.ColumnProducts(t.Sum[:n], dy, x)
			} else {
				t.Sum[m] += vec.Dot(dy, x)
			}
		}),
	})
	l.grad = streams.Make(stream.Pass{
		Name: "Normalize gradient", Dims: dims, Ins: part.Arrays(2, stream.Row, stream.Row), Outs: part.Arrays(1), Scratch: 1,
		Cost: stream.Work{Flops: 3},
		Op: part.ByRow(func(t *stream.Tile, at, n, m int) {
			dx, tmp := t.Out[0][at:at+n], t.Scratch[0][:n]
			scaleRow(dx, t.In[0][at:at+n], t.In[2], t.I, m)
			scaleRow(tmp, t.In[1][at:at+n], t.In[3], t.I, m)
			vec.Sub(dx, dx, tmp)
		}),
	})
	return streams.Err
}

func (l *normalize) forwardItems(x, y []float32) error {
	l.ins[0] = x
	if err := l.squares.Run(l.ins[:1], nil); err != nil {
		return err
	}
	norms, s, c := l.norms.Data(), l.factor(), l.dims[1]
	for n := range norms {
		sum := l.eps
		for _, v := range l.squares.Sums()[n*c : (n+1)*c] {
			sum += v
		}
		norm := math.Sqrt(sum)
		norms[n] = float32(norm)
		for k, f := range s {
			l.factors[n*c+k] = float32(float64(f) / norm)
		}
	}
	l.ins[1], l.outs[0] = l.factors, y
	return l.apply.Run(l.ins[:2], l.outs[:1])
}

func (l *normalize) backwardItems(x, dy, dx []float32) error {
	l.ins[0], l.ins[1] = dy, x
	if err := l.products.Run(l.ins[:2], nil); err != nil {
		return err
	}
	norms, s, c := l.norms.Data(), l.factor(), l.dims[1]
	var grad []float32
	if l.ParamGrad(0) {
		grad = l.Weights[0].Diff()
	}
	for n := range norms {
		norm, dot := float64(norms[n]), 0.0
		products := l.products.Sums()[n*c : (n+1)*c]
		for k, v := range products {
			dot += float64(s[k]) * v
			if grad != nil {
				grad[k%len(grad)] += float32(v / norm)
			}
		}
		for k, f := range s {
			l.factors[n*c+k], l.terms[n*c+k] = float32(float64(f)/norm), float32(dot/(norm*norm*norm))
		}
	}
	if dx == nil {
		return nil
	}
	l.ins[2], l.ins[3], l.outs[0] = l.factors, l.terms, dx
	return l.grad.Run(l.ins[:], l.outs[:1])
}

// preparePixels makes the kernels that normalise pixels. A tile has all channels of its pixels.
func (l *normalize) preparePixels() error {
	streams := part.StreamsOf(&l.Base)
	l.apply = streams.Make(stream.Pass{
		Name: "Normalize", Dims: l.dims, WholeMid: true, Sweeps: 2, Ins: part.Arrays(1, stream.Row), Outs: part.Arrays(1, stream.Plane),
		Cost: stream.Work{Flops: 4}, Op: l.pixelTile,
	})
	l.grad = streams.Make(stream.Pass{
		Name: "Normalize gradient", Dims: l.dims, WholeMid: true, Sweeps: 2, Ins: part.Arrays(2, stream.Row, stream.Plane), Outs: part.Arrays(1),
		Scratch: 1, Sums: 1, Cost: stream.Work{Flops: 8}, Op: l.pixelGradTile,
	})
	return streams.Err
}

// pixelTile computes the norms of a tile's pixels, and y.
func (l *normalize) pixelTile(t *stream.Tile) {
	for o := range t.O {
		norm := t.Out[1][o*t.PStride:][:t.I]
		vec.Fill(norm, float32(l.eps))
		for m := range t.M {
			x := t.In[0][o*t.OStride+m*t.MStride:][:t.I]
			vec.MulAdd(norm, x, x)
		}
		vec.Sqrt(norm, norm)
		for m := range t.M {
			at := o*t.OStride + m*t.MStride
			y := t.Out[0][at:][:t.I]
			vec.Div(y, t.In[0][at:], norm)
			vec.Scale(y, y, t.In[1][m])
		}
	}
}

// pixelGradTile computes dx of a tile's pixels, and the sums of dy*x/n by channel.
func (l *normalize) pixelGradTile(t *stream.Tile) {
	for o := range t.O {
		norm, dot := t.In[3][o*t.PStride:][:t.I], t.Scratch[0][:t.I]
		clear(dot)
		for m := range t.M {
			at := o*t.OStride + m*t.MStride
			dx := t.Out[0][at:][:t.I]
			vec.Mul(dx, t.In[0][at:], t.In[1][at:])
			vec.Axpy(dot, dx, t.In[2][m])
			vec.Div(dx, dx, norm)
			t.Sum[m] += vec.Sum(dx)
		}
		vec.Div(dot, dot, norm)
		vec.Div(dot, dot, norm)
		for m := range t.M {
			at := o*t.OStride + m*t.MStride
			dx, s := t.Out[0][at:][:t.I], t.In[2][m]
			dy, x := t.In[0][at:][:t.I], t.In[1][at:][:t.I]
			for i := range dx {
				dx[i] = (s*dy[i] - x[i]*dot[i]) / norm[i]
			}
		}
	}
}

func (l *normalize) backwardPixels(x, dy, dx []float32) error {
	if dx == nil { // the kernel computes dx along with ds
		if l.unused == nil {
			l.unused = l.Device.NewBlob(0)
		}
		l.unused.Reshape(len(x))
		dx = l.unused.Data()
	}
	l.ins, l.outs[0] = [4][]float32{dy, x, l.factor(), l.norms.Data()}, dx
	if err := l.grad.Run(l.ins[:], l.outs[:1]); err != nil {
		return err
	}
	l.addFactorGrad(l.grad.Sums())
	return nil
}
