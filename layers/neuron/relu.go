package neuron

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
)

func init() {
	registerNeuron(layers.Type{Name: "ReLU", Doc: "y = max(x, 0) + negative_slope * min(x, 0)", InPlace: true}, relu)
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
		f: func(x float64) float64 { return float64(rectified(float32(x), slope)) },
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

// rectified is std::max(x, 0) + slope*std::min(x, 0) in single precision, as Caffe's ReLU and PReLU layers compute it. Both functions return x where
// it equals 0. So 0 and -5 give 0, also with a slope of 0, and -0 gives -0 unless slope is below 0.
func rectified(x, slope float32) float32 {
	switch {
	case x > 0:
		return x + float32(slope*0)
	case x < 0:
		return 0 + float32(slope*x)
	}
	return x + float32(slope*x)
}
