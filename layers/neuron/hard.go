package neuron

import (
	"math"

	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
)

func init() {
	registerNeuron(layers.Type{Name: "ReLU6", Doc: "y = min(max(x, 0), 6)", Params: []string{}, InPlace: true}, relu6)
	registerNeuron(layers.Type{Name: "HardSigmoid", Doc: "y = min(max(alpha*x + beta, 0), 1)", InPlace: true}, hardSigmoid)
	registerNeuron(layers.Type{Name: "HardSwish", Doc: "y = x * min(max(x + 3, 0), 6) / 6", Params: []string{}, InPlace: true}, hardSwish)
}

// between returns the largest and smallest float32 that are strictly between two bounds.
func between(lo, hi float32) (float32, float32) {
	inf := float32(math.Inf(1))
	return math.Nextafter32(lo, inf), math.Nextafter32(hi, -inf)
}

// clamp is x limited to 0 <= x <= hi; NaN becomes 0.
func clamp(x, hi float64) float64 {
	if x = min(x, hi); x > 0 {
		return x
	}
	return 0
}

// step is 1 strictly between the bounds and 0 elsewhere.
func step(x, lo, hi float64) float64 {
	if x > lo && x < hi {
		return 1
	}
	return 0
}

// relu6 is the ReLU6 layer of MobileNet's forks (Krizhevsky 2010). Its derivative is 1 for 0 < x < 6, which y tells as well.
func relu6(*neuronLayer) (neuronRule, error) {
	lo, hi := between(0, 6)
	return neuronRule{
		needs: needsY, either: true,
		f:        func(x float64) float64 { return clamp(x, 6) },
		slope:    func(_, y float64) float64 { return step(y, 0, 6) },
		tile:     func(y, x []float32, _ scratch) { vec.Clamp(y, x, 0, 6) },
		tileGrad: func(dx, dy, _, y []float32, _ scratch) { vec.ClampGrad(dx, dy, y, lo, hi) },
		cost:     stream.Work{Flops: 2},
	}, nil
}

// hardSigmoid is the HardSigmoid layer of MobileNet's forks (Courbariaux et al. 2015); y' = alpha for 0 < y < 1.
func hardSigmoid(n *neuronLayer) (neuronRule, error) {
	p := n.Param.GetHardsigmoidParam()
	alpha, beta := p.GetAlpha(), p.GetBeta()
	lo, hi := between(0, 1)
	return neuronRule{
		needs: needsY,
		f:     func(x float64) float64 { return clamp(float64(alpha)*x+float64(beta), 1) },
		slope: func(_, y float64) float64 { return float64(alpha) * step(y, 0, 1) },
		tile: func(y, x []float32, _ scratch) {
			vec.Affine(y, x, alpha, beta)
			vec.Clamp(y, y, 0, 1)
		},
		tileGrad: func(dx, dy, _, y []float32, _ scratch) {
			vec.ClampGrad(dx, dy, y, lo, hi)
			vec.Scale(dx, dx, alpha)
		},
		cost:   stream.Work{Flops: 4},
		affine: true,
	}, nil
}

// hardSwish is the HardSwish layer of MobileNet v3's forks (Howard et al. 2019); y' = 0 for x <= -3, 1 for x >= 3, (2x + 3) / 6 between.
func hardSwish(*neuronLayer) (neuronRule, error) {
	lo, hi := between(-3, 3)
	gate := func(s, x []float32) {
		vec.Affine(s, x, 1./6, 0.5)
		vec.Clamp(s, s, 0, 1)
	}
	return neuronRule{
		keepX: true, scratch: true,
		f:     func(x float64) float64 { return x * clamp(x+3, 6) / 6 },
		slope: func(x, _ float64) float64 { return (clamp(x+3, 6) + x*step(x, -3, 3)) / 6 },
		tile: func(y, x []float32, tmp scratch) {
			gate(tmp[0], x)
			vec.Mul(y, x, tmp[0])
		},
		tileGrad: func(dx, dy, x, _ []float32, tmp scratch) {
			gate(tmp[0], x)
			vec.ClampGrad(tmp[1], x, x, lo, hi)
			vec.Axpy(tmp[0], tmp[1], 1./6)
			vec.Mul(dx, dy, tmp[0])
		},
		cost:   stream.Work{Flops: 6},
		affine: true,
	}, nil
}
