package neuron

import (
	"errors"
	"math"

	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
)

func init() {
	registerNeuron(layers.Type{Name: "AbsVal", Doc: "y = |x|", Params: []string{}}, absVal)
	registerNeuron(layers.Type{Name: "BNLL", Doc: "y = log(1 + exp(x))", Params: []string{}, InPlace: true}, bnll)
	registerNeuron(layers.Type{Name: "Clip", Doc: "y = max(min, min(max, x))", InPlace: true}, clip)
	registerNeuron(layers.Type{Name: "ELU", Doc: "y = x for x > 0, alpha * (exp(x) - 1) otherwise", InPlace: true}, elu)
	layers.Register(layers.Type{
		Name: "Threshold", Doc: "y = 1 for x > threshold, 0 otherwise", New: newNeuron(threshold),
		Bottoms: layers.Exactly(1), Tops: layers.Exactly(1), InPlace: true, NoGradient: true,
	})
}

// vector adapts a tile function without scratch.
func vector(f func(y, x []float32)) func(y, x []float32, tmp scratch) {
	return func(y, x []float32, _ scratch) { f(y, x) }
}

// absVal is Caffe's AbsVal layer; y' = sign(x).
func absVal(*neuronLayer) (neuronRule, error) {
	return neuronRule{
		f:        math.Abs,
		slope:    func(x, _ float64) float64 { return part.Sign(x) },
		tile:     vector(vec.Abs),
		tileGrad: func(dx, dy, x, _ []float32, _ scratch) { vec.MulSign(dx, dy, x) },
		cost:     stream.Work{Flops: 1},
	}, nil
}

// bnll is Caffe's BNLL layer, binomial normal log likelihood: y = max(x, 0) + log(1 + exp(-|x|)), y' = 1 / (1 + exp(-x)). In place it takes
// the derivative at y, as Caffe does. Caffe adds 1 in double precision. Here u = 1 + e is float32, and its rounding error is corrected to
// first order: log(1+e) = log(u) + (e - (u-1))/u.
func bnll(*neuronLayer) (neuronRule, error) {
	return neuronRule{
		f:       func(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) },
		slope:   func(x, _ float64) float64 { return part.Logistic(x) },
		scratch: true,
		tile: func(y, x []float32, tmp scratch) {
			e, u := tmp[0], tmp[1]
			vec.Abs(e, x)
			vec.Scale(e, e, -1)
			vec.Exp(e, e)
			vec.AddScalar(u, e, 1)
			vec.AddScalar(u, u, -1)
			vec.Sub(e, e, u)
			vec.AddScalar(u, u, 1)
			vec.Div(e, e, u)
			vec.Log(u, u)
			vec.Add(e, e, u)
			clear(u)
			vec.Max(y, x, u)
			vec.Add(y, y, e)
		},
		tileGrad: func(dx, dy, x, _ []float32, tmp scratch) {
			vec.Sigmoid(tmp[0], x)
			vec.Mul(dx, dy, tmp[0])
		},
		cost: stream.Work{Flops: 9, Specials: 2},
	}, nil
}

// clip is Caffe's Clip layer. Gradients pass where min <= x <= max. NaN becomes min; if min > max, so does every value.
func clip(n *neuronLayer) (neuronRule, error) {
	lo, hi := n.Param.GetClipParam().GetMin(), n.Param.GetClipParam().GetMax()
	if n.Param.ClipParam == nil {
		return neuronRule{}, errors.New("clip_param with min and max is needed")
	}
	return neuronRule{
		f: func(x float64) float64 {
			if x > float64(hi) {
				x = float64(hi)
			}
			if !(x > float64(lo)) {
				x = float64(lo)
			}
			return x
		},
		slope: func(x, _ float64) float64 {
			if x >= float64(lo) && x <= float64(hi) {
				return 1
			}
			return 0
		},
		tile:     func(y, x []float32, _ scratch) { vec.Clamp(y, x, lo, hi) },
		tileGrad: func(dx, dy, x, _ []float32, _ scratch) { vec.ClampGrad(dx, dy, x, lo, hi) },
		cost:     stream.Work{Flops: 2},
	}, nil
}

// elu is Caffe's ELU layer (Clevert et al. 2016); y' = 1 for x > 0, alpha + y otherwise. Like Caffe it adds both cases, each times a
// condition of 0 or 1, which gives NaN if x is infinite or NaN.
func elu(n *neuronLayer) (neuronRule, error) {
	alpha := n.Param.GetEluParam().GetAlpha()
	return neuronRule{
		f: func(x float64) float64 { return max(x, 0) + float64(alpha*float32(math.Expm1(min(x, 0)))) }, // 0, not -0, if the product underflows
		slope: func(x, y float64) float64 {
			slope := float64(alpha) + y
			if !(x <= 0) {
				slope = 1 + 0*slope
			}
			return slope
		},
		needs: needsBoth, scratch: true,
		tile: func(y, x []float32, tmp scratch) {
			below, zeros := tmp[0], tmp[1]
			clear(zeros)
			vec.Min(below, x, zeros)
			vec.Exp(below, below)
			vec.Affine(below, below, alpha, -alpha)
			vec.Max(y, x, zeros)
			vec.Add(y, y, below)
		},
		tileGrad: func(dx, dy, x, y []float32, tmp scratch) {
			vec.ELUSlope(tmp[0], x, y, alpha)
			vec.Mul(dx, dy, tmp[0])
		},
		cost:   stream.Work{Flops: 4, Specials: 1},
		affine: true,
	}, nil
}

// threshold is Caffe's Threshold layer. It has no gradient.
func threshold(n *neuronLayer) (neuronRule, error) {
	limit := n.Param.GetThresholdParam().GetThreshold()
	return neuronRule{
		f: func(x float64) float64 {
			if x > float64(limit) {
				return 1
			}
			return 0
		},
		tile: func(y, x []float32, _ scratch) { vec.Above(y, x, limit) },
		cost: stream.Work{Flops: 1},
	}, nil
}
