package loss

import (
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
		Name: "Softmax", Doc: "exp(x) / sum of exp(x) along an axis", Cancels: true,
		Couples: layers.OnAxis0(func(p *caffepb.LayerParameter) int32 { return p.GetSoftmaxParam().GetAxis() }, "normalises over the items"),
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &softmax{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(1), Tops: layers.Exactly(1), InPlace: true,
	})
}

// softmax is Caffe's Softmax layer along softmax_param.axis.
type softmax struct {
	layers.Base
	op softmaxOp
}

func (l *softmax) SetUp(_, _ []*blob.Blob) error { return nil }

func (l *softmax) Reshape(bottom, top []*blob.Blob) error {
	if top[0] != bottom[0] {
		top[0].ReshapeLike(bottom[0])
	}
	dims, err := part.SplitAxis(bottom[0], int(l.Param.GetSoftmaxParam().GetAxis()))
	if err != nil {
		return err
	}
	return l.op.reshape(&l.Base, dims)
}

func (l *softmax) Forward(bottom, top []*blob.Blob) error {
	return l.op.forward(bottom[0].Data(), top[0].Data())
}

// Traits implements Planned. The gradient is a function of the top.
func (l *softmax) Traits() layers.Traits {
	return layers.Traits{Unread: layers.Unread{Bottoms: layers.AllBottoms}}
}

func (l *softmax) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if !propagateDown[0] {
		return nil
	}
	return l.op.backward(top[0].Data(), top[0].Diff(), bottom[0].Diff())
}

// softmaxOp is the softmax along the middle axis of an outer x mid x inner array, on both paths. The losses use it too.
type softmaxOp struct {
	dims [3]int
	mpe  bool
	run  *stream.Kernel
	grad *stream.Kernel
	ins  [2][]float32
	outs [1][]float32
}

func (s *softmaxOp) reshape(b *layers.Base, dims [3]int) error {
	if s.dims == dims {
		return nil
	}
	s.dims, s.mpe = dims, b.MPE()
	if s.mpe {
		return nil
	}
	streams := part.StreamsOf(b)
	s.run = streams.Make(stream.Pass{
		Name: "softmax", Dims: dims, WholeMid: true, Sweeps: 2, Ins: part.Arrays(1), Outs: part.Arrays(1), Scratch: 1,
		Cost: stream.Work{Flops: 3, Specials: 2}, Op: softmaxTile,
	})
	s.grad = streams.Make(stream.Pass{
		Name: "softmax gradient", Dims: dims, WholeMid: true, Sweeps: 2, Ins: part.Arrays(2), Outs: part.Arrays(1), Scratch: 1,
		Cost: stream.Work{Flops: 4}, Op: softmaxGradTile,
	})
	return streams.Err
}

func (s *softmaxOp) forward(x, y []float32) error {
	if !s.mpe {
		s.ins[0], s.outs[0] = x, y
		return s.run.Run(s.ins[:1], s.outs[:])
	}
	s.eachColumn(func(at func(m int) int) {
		largest := math.Inf(-1)
		for m := range s.dims[1] {
			largest = max(largest, float64(x[at(m)]))
		}
		var sum float64
		for m := range s.dims[1] {
			e := math.Exp(float64(x[at(m)]) - largest)
			y[at(m)] = float32(e)
			sum += e
		}
		for m := range s.dims[1] {
			y[at(m)] = float32(float64(y[at(m)]) / sum)
		}
	})
	return nil
}

// eachColumn visits every pair of outer and inner indices, with a function from a middle index to the element's index.
func (s *softmaxOp) eachColumn(visit func(at func(m int) int)) {
	for o := range s.dims[0] {
		for i := range s.dims[2] {
			visit(func(m int) int { return (o*s.dims[1]+m)*s.dims[2] + i })
		}
	}
}

// backward computes dx = y * (dy - sum over the axis of dy*y).
func (s *softmaxOp) backward(y, dy, dx []float32) error {
	if !s.mpe {
		s.ins, s.outs[0] = [2][]float32{y, dy}, dx
		return s.grad.Run(s.ins[:], s.outs[:])
	}
	s.eachColumn(func(at func(m int) int) {
		var dot float64
		for m := range s.dims[1] {
			dot += float64(y[at(m)]) * float64(dy[at(m)])
		}
		for m := range s.dims[1] {
			dx[at(m)] = float32(float64(y[at(m)]) * (float64(dy[at(m)]) - dot))
		}
	})
	return nil
}

// softmaxTile works on whole columns. With a wide inner axis it processes rows of inner values from top to bottom; if inner is 1,
// softmaxRows works along the middle axis.
func softmaxTile(t *stream.Tile) {
	if t.I == 1 && t.MStride == 1 && t.OStride == t.M {
		softmaxRows(t)
		return
	}
	for o := range t.O {
		x, y := t.In[0][o*t.OStride:], t.Out[0][o*t.OStride:]
		tmp := t.Scratch[0][:t.I]
		copy(tmp, x)
		for m := 1; m < t.M; m++ {
			vec.Max(tmp, tmp, x[m*t.MStride:])
		}
		for m := range t.M {
			row := y[m*t.MStride:][:t.I]
			vec.Sub(row, x[m*t.MStride:], tmp)
			vec.Exp(row, row)
		}
		clear(tmp)
		for m := range t.M {
			vec.Add(tmp, tmp, y[m*t.MStride:])
		}
		for m := range t.M {
			row := y[m*t.MStride:][:t.I]
			vec.Div(row, row, tmp)
		}
	}
}

// softmaxRows works along the middle axis. It exponentiates contiguous rows together, since they may be shorter than vectors.
func softmaxRows(t *stream.Tile) {
	x, y := t.In[0], t.Out[0]
	t.EachRow(func(at, n, _ int) { vec.AddScalar(y[at:at+n], x[at:at+n], -vec.MaxOf(x[at:at+n])) })
	all := y[:t.O*t.M]
	vec.Exp(all, all)
	t.EachRow(func(at, n, _ int) { vec.Scale(y[at:at+n], y[at:at+n], float32(1/vec.Sum(y[at:at+n]))) })
}

func softmaxGradTile(t *stream.Tile) {
	for o := range t.O {
		y, dy, dx := t.In[0][o*t.OStride:], t.In[1][o*t.OStride:], t.Out[0][o*t.OStride:]
		if t.I == 1 && t.MStride == 1 {
			dot := float32(vec.Dot(y[:t.M], dy[:t.M]))
			vec.AddScalar(dx[:t.M], dy, -dot)
			vec.Mul(dx[:t.M], dx, y)
			continue
		}
		dot := t.Scratch[0][:t.I]
		clear(dot)
		for m := range t.M {
			vec.MulAdd(dot, y[m*t.MStride:], dy[m*t.MStride:])
		}
		for m := range t.M {
			row := dx[m*t.MStride:][:t.I]
			vec.Sub(row, dy[m*t.MStride:], dot)
			vec.Mul(row, row, y[m*t.MStride:])
		}
	}
}
