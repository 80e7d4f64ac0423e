package neuron

import (
	"math"

	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
)

func init() {
	registerNeuron(layers.Type{Name: "Mish", Doc: "y = x * tanh(log(1 + exp(x)))", Params: []string{}, InPlace: true}, mish)
}

// mishLimit is where tanh(log(1 + exp(x))) is 1 in float32, and exp(x)^2 is still finite.
const mishLimit = 20

// mish is the Mish layer of YOLO v4's forks (Misra 2019). With e = exp(x) and n = e*(e + 2), the factor t = tanh(log(1 + e)) is n / (n + 2).
// The derivative is t + x*(1 - t^2)*sigmoid(x).
func mish(*neuronLayer) (neuronRule, error) {
	factor := func(t, n, x []float32) {
		vec.Clamp(t, x, float32(math.Inf(-1)), mishLimit)
		vec.Exp(t, t)
		vec.AddScalar(n, t, 2)
		vec.Mul(n, n, t)
		vec.AddScalar(t, n, 2)
		vec.Div(t, n, t)
	}
	tanh := func(x float64) float64 {
		if x > mishLimit {
			return 1
		}
		e := math.Exp(x)
		return e * (e + 2) / (e*(e+2) + 2)
	}
	return neuronRule{
		keepX: true, scratch: true,
		f:     func(x float64) float64 { return x * tanh(x) },
		slope: func(x, _ float64) float64 { t := tanh(x); return t + x*(1-t*t)*part.Logistic(x) },
		tile: func(y, x []float32, tmp scratch) {
			factor(tmp[0], tmp[1], x)
			vec.Mul(y, x, tmp[0])
		},
		tileGrad: func(dx, dy, x, _ []float32, tmp scratch) {
			t, s := tmp[0], tmp[1]
			factor(t, s, x)
			vec.Sigmoid(s, x)
			vec.Mul(s, s, x)
			for i, v := range t {
				t[i] = v + s[i]*(1-v*v)
			}
			vec.Mul(dx, dy, t)
		},
		cost: stream.Work{Flops: 9, Specials: 3},
	}, nil
}
