package neuron

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
)

func init() {
	registerNeuron("ReLU", "y = max(x, 0) + negative_slope * min(x, 0)", true, relu)
}

// relu is Caffe's ReLU layer. The derivative at 0 is the negative slope. Backward takes it from the sign of y, which equals that of x
// unless the negative slope is below 0, so that x need not be kept. If y is overwritten, Backward uses x, as Caffe does.
func relu(n *neuronLayer) (neuronRule, error) {
	slope := n.Param.GetReluParam().GetNegativeSlope()
	needs := needsY
	if slope < 0 {
		needs = needsX
	}
	return neuronRule{
		needs: needs, either: true,
		f: func(x float64) float64 { return max(x, 0) + float64(slope)*min(x, 0) },
		slope: func(x, _ float64) float64 {
			if x > 0 {
				return 1
			}
			return float64(slope)
		},
		tile:     func(y, x []float32, _ scratch) { vec.ReLU(y, x, slope) },
		tileGrad: func(dx, dy, x, _ []float32, _ scratch) { vec.ReLUGrad(dx, dy, x, slope) },
		cost:     stream.Work{Flops: 2},
	}, nil
}
