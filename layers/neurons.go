package layers

import (
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/cpe/kernel"
	"github.com/swcaffe/swcaffe/internal/simd"
)

func init() {
	registerNeuron("AbsVal", "y = |x|", false, absVal)
	registerNeuron("BNLL", "y = log(1 + exp(x))", true, bnll)
	registerNeuron("Clip", "y = max(min, min(max, x))", true, clip)
	registerNeuron("ELU", "y = x for x > 0, alpha * (exp(x) - 1) otherwise", true, elu)
	Register(Type{
		Name: "Threshold", Doc: "y = 1 for x > threshold, 0 otherwise", New: newNeuron(threshold),
		Bottoms: Exactly(1), Tops: Exactly(1), InPlace: true, NoGradient: true,
	})
}

// elementwise makes the tile functions from scalar ones, for functions that are rare enough.
func elementwise(f func(float64) float64, slope func(x, y float64) float64, cost kernel.Work) neuronRule {
	return neuronRule{
		f: f, slope: slope, cost: cost,
		tile: func(y, x []float32) {
			for i, v := range x[:len(y)] {
				y[i] = float32(f(float64(v)))
			}
		},
		tileGrad: func(dx, dy, x, y []float32) {
			for i, v := range x[:len(dx)] {
				dx[i] = dy[i] * float32(slope(float64(v), float64(y[i])))
			}
		},
	}
}

// absVal is Caffe's AbsVal layer; y' = sign(x).
func absVal(*neuron) (neuronRule, error) {
	r := elementwise(math.Abs, func(x, _ float64) float64 {
		switch {
		case x > 0:
			return 1
		case x < 0:
			return -1
		}
		return 0
	}, kernel.Work{Flops: 1})
	r.tile = simd.Abs
	return r, nil
}

// bnll is Caffe's BNLL layer, binomial normal log likelihood; y' = 1 / (1 + exp(-x)). As in Caffe the derivative takes
// x as at most 50.
func bnll(*neuron) (neuronRule, error) {
	return elementwise(func(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) },
		func(x, _ float64) float64 { return logistic(min(x, 50)) }, kernel.Work{Flops: 2, Specials: 2}), nil
}

// clip is Caffe's Clip layer; gradients pass where min <= x <= max.
func clip(n *neuron) (neuronRule, error) {
	lo, hi := n.Param.GetClipParam().GetMin(), n.Param.GetClipParam().GetMax()
	if n.Param.ClipParam == nil {
		return neuronRule{}, fmt.Errorf("clip_param with min and max is needed")
	}
	return elementwise(func(x float64) float64 { return max(float64(lo), min(x, float64(hi))) },
		func(x, _ float64) float64 {
			if x >= float64(lo) && x <= float64(hi) {
				return 1
			}
			return 0
		}, kernel.Work{Flops: 2}), nil
}

// elu is Caffe's ELU layer (Clevert et al. 2016); y' = 1 for x > 0, alpha + y otherwise.
func elu(n *neuron) (neuronRule, error) {
	alpha := float64(n.Param.GetEluParam().GetAlpha())
	return elementwise(func(x float64) float64 { return max(x, 0) + alpha*math.Expm1(min(x, 0)) },
		func(x, y float64) float64 {
			if x > 0 {
				return 1
			}
			return alpha + y
		}, kernel.Work{Flops: 3, Specials: 1}), nil
}

// threshold is Caffe's Threshold layer; it has no gradient.
func threshold(n *neuron) (neuronRule, error) {
	limit := float64(n.Param.GetThresholdParam().GetThreshold())
	return elementwise(func(x float64) float64 {
		if x > limit {
			return 1
		}
		return 0
	}, nil, kernel.Work{Flops: 1}), nil
}
