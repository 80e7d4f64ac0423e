package layers

import (
	"github.com/swcaffe/swcaffe/cpe/kernel"
	"github.com/swcaffe/swcaffe/internal/simd"
)

func init() {
	registerNeuron("ReLU", "y = max(x, 0) + negative_slope * min(x, 0)", true, relu)
}

// relu is Caffe's ReLU layer; the derivative at 0 is the negative slope.
func relu(n *neuron) (neuronRule, error) {
	slope := n.Param.GetReluParam().GetNegativeSlope()
	return neuronRule{
		f: func(x float64) float64 { return max(x, 0) + float64(slope)*min(x, 0) },
		slope: func(x, _ float64) float64 {
			if x > 0 {
				return 1
			}
			return float64(slope)
		},
		tile:     func(y, x []float32, _ scratch) { simd.ReLU(y, x, slope) },
		tileGrad: func(dx, dy, x, _ []float32, _ scratch) { simd.ReLUGrad(dx, dy, x, slope) },
		cost:     kernel.Work{Flops: 2},
	}, nil
}
