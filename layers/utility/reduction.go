package utility

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
		Name: "Reduction", Doc: "coeff times the sum, mean, sum of magnitudes or of squares over all axes from axis on",
		Couples: reducesItems,
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &reduction{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(1), Tops: layers.Exactly(1),
	})
}

// reduction is Caffe's Reduction layer.
type reduction struct {
	layers.Base
	op    caffepb.ReductionParameter_ReductionOp
	scale float64 // coeff, for MEAN divided by the number of values
	dims  [3]int  // 1 x the top's count x values per sum

	sum, grad *stream.Kernel
	ins       [2][]float32
	outs      [1][]float32
}

func (l *reduction) SetUp(_, _ []*blob.Blob) error {
	l.op = l.Param.GetReductionParam().GetOperation()
	return nil
}

func (l *reduction) Reshape(bottom, top []*blob.Blob) error {
	p := l.Param.GetReductionParam()
	axis, err := part.AxisOf(bottom[0], int(p.GetAxis()))
	if err != nil {
		return err
	}
	top[0].Reshape(bottom[0].Shape()[:axis]...)
	dims := [3]int{1, top[0].Count(), bottom[0].CountFrom(axis)}
	if l.dims == dims {
		return nil
	}
	l.dims, l.scale = dims, float64(p.GetCoeff())
	if l.op == caffepb.ReductionParameter_MEAN {
		l.scale /= float64(max(1, dims[2]))
	}
	if l.MPE() {
		return nil
	}
	return l.prepare()
}

func (l *reduction) prepare() error {
	streams := part.StreamsOf(&l.Base)
	l.sum = streams.Make(stream.Pass{
		Name: "Reduction", Dims: l.dims, Ins: part.Arrays(1), Sums: 1, Cost: stream.Work{Flops: 2},
		Op: func(t *stream.Tile) {
			for m := range t.M {
				t.Sum[m] += l.reduce(t.In[0][m*t.MStride:][:t.I])
			}
		},
	})
	l.grad = streams.Make(stream.Pass{
		Name: "Reduction gradient", Dims: l.dims, Ins: part.Arrays(1, stream.Row), Outs: part.Arrays(1), Cost: stream.Work{Flops: 2},
		Op: func(t *stream.Tile) {
			for m := range t.M {
				l.spread(t.Out[0][m*t.MStride:][:t.I], t.In[0][m*t.MStride:], l.scale*float64(t.In[1][m]))
			}
		},
	})
	return streams.Err
}

func (l *reduction) reduce(x []float32) float64 {
	switch l.op {
	case caffepb.ReductionParameter_ASUM:
		return vec.AbsSum(x)
	case caffepb.ReductionParameter_SUMSQ:
		return vec.SumSq(x)
	}
	return vec.Sum(x)
}

// spread writes dx = g, g * sign(x) or 2 * g * x.
func (l *reduction) spread(dx, x []float32, g float64) {
	switch l.op {
	case caffepb.ReductionParameter_ASUM:
		vec.Fill(dx, float32(g))
		vec.MulSign(dx, dx, x)
	case caffepb.ReductionParameter_SUMSQ:
		vec.Scale(dx, x, float32(2*g))
	default:
		vec.Fill(dx, float32(g))
	}
}

// term returns a value's term of the sum, unscaled, and its derivative.
func (l *reduction) term(x float64) (value, slope float64) {
	switch l.op {
	case caffepb.ReductionParameter_ASUM:
		return math.Abs(x), part.Sign(x)
	case caffepb.ReductionParameter_SUMSQ:
		return x * x, 2 * x
	}
	return x, 1
}

func (l *reduction) Forward(bottom, top []*blob.Blob) error {
	x, y := bottom[0].Data(), top[0].Data()
	if !l.MPE() {
		l.ins[0] = x
		if err := l.sum.Run(l.ins[:1], nil); err != nil {
			return err
		}
		for m, s := range l.sum.Sums() {
			y[m] = float32(l.scale * s)
		}
		return nil
	}
	for m := range y {
		var sum float64
		for _, v := range x[m*l.dims[2]:][:l.dims[2]] {
			value, _ := l.term(float64(v))
			sum += value
		}
		y[m] = float32(l.scale * sum)
	}
	return nil
}

// Traits implements Planned. The derivative of a sum is constant.
func (l *reduction) Traits() layers.Traits {
	sum := l.op != caffepb.ReductionParameter_ASUM && l.op != caffepb.ReductionParameter_SUMSQ
	return layers.Traits{Unread: layers.Unread{Bottoms: layers.BottomsIf(sum), Tops: true}}
}

func (l *reduction) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if !propagateDown[0] {
		return nil
	}
	x, dy, dx := bottom[0].Data(), top[0].Diff(), bottom[0].Diff()
	if !l.MPE() {
		l.ins, l.outs[0] = [2][]float32{x, dy}, dx
		return l.grad.Run(l.ins[:], l.outs[:])
	}
	for i, v := range x {
		_, slope := l.term(float64(v))
		dx[i] = float32(l.scale * float64(dy[i/l.dims[2]]) * slope)
	}
	return nil
}

// reducesItems is the rule of Reduction: the mean over items and their values is that of the workers' means, other sums are not.
func reducesItems(p *caffepb.LayerParameter, bottoms [][]int) layers.Coupling {
	r := p.GetReductionParam()
	if a := int(r.GetAxis()); a != 0 && a != -len(bottoms[0]) || r.GetOperation() == caffepb.ReductionParameter_MEAN {
		return layers.Coupling{}
	}
	return layers.Coupling{Kind: layers.Differs, Why: "adds up the items of each worker, not the whole batch"}
}
