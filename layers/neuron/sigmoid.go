package neuron

import (
	"math"

	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
)

func init() {
	registerNeuron(layers.Type{Name: "Sigmoid", Doc: "y = 1 / (1 + exp(-x))", InPlace: true}, sigmoid)
	registerNeuron(layers.Type{Name: "TanH", Doc: "y = tanh(x)", InPlace: true}, tanh)
	registerNeuron(layers.Type{Name: "Swish", Doc: "y = x / (1 + exp(-beta*x))", InPlace: true}, swish)
}

// sigmoid is Caffe's Sigmoid layer; y' = y * (1 - y).
func sigmoid(*neuronLayer) (neuronRule, error) {
	return neuronRule{
		needs:    needsY,
		f:        part.Logistic,
		slope:    func(_, y float64) float64 { return y * (1 - y) },
		tile:     vector(vec.Sigmoid),
		tileGrad: func(dx, dy, _, y []float32, _ scratch) { vec.SigmoidGrad(dx, dy, y) },
		cost:     stream.Work{Flops: 2, Specials: 2},
	}, nil
}

// tanh is Caffe's TanH layer; y' = 1 - y^2.
func tanh(*neuronLayer) (neuronRule, error) {
	return neuronRule{
		needs:    needsY,
		f:        math.Tanh,
		slope:    func(_, y float64) float64 { return 1 - y*y },
		tile:     vector(vec.Tanh),
		tileGrad: func(dx, dy, _, y []float32, _ scratch) { vec.TanhGrad(dx, dy, y) },
		cost:     stream.Work{Flops: 3, Specials: 2},
	}, nil
}

// swish is Caffe's Swish layer (Ramachandran et al. 2017); with s = sigmoid(beta*x), y' = beta*y + s*(1 - beta*y).
func swish(n *neuronLayer) (neuronRule, error) {
	beta := n.Param.GetSwishParam().GetBeta()
	return neuronRule{
		needs: needsBoth, keepX: true, scratch: true,
		f: func(x float64) float64 { return x * part.Logistic(float64(beta)*x) },
		slope: func(x, y float64) float64 {
			return float64(beta)*y + part.Logistic(float64(beta)*x)*(1-float64(beta)*y)
		},
		tile: func(y, x []float32, tmp scratch) {
			s := tmp[0]
			vec.Scale(s, x, beta)
			vec.Sigmoid(s, s)
			vec.Mul(y, x, s)
		},
		tileGrad: func(dx, dy, x, y []float32, tmp scratch) {
			s, rest := tmp[0], tmp[1]
			vec.Scale(s, x, beta)
			vec.Sigmoid(s, s)
			vec.Affine(rest, y, -beta, 1)
			vec.Mul(s, s, rest)
			vec.Axpy(s, y, beta)
			vec.Mul(dx, dy, s)
		},
		cost: stream.Work{Flops: 5, Specials: 2},
	}, nil
}
