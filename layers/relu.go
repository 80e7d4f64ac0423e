package layers

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
)

func init() {
	registerNeuron("ReLU", "y = max(x, 0) + negative_slope * min(x, 0)", true, relu)
}

// relu is Caffe's ReLU layer; the derivative at 0 is the negative slope. It is taken from the sign of y, which is that of x unless
// the negative slope is below 0, so that x need not be there when gradients are computed. Where y is overwritten, x tells it, as
// in Caffe.
func relu(n *neuronLayer) (neuronRule, error) {
	slope := n.Param.GetReluParam().GetNegativeSlope()
	needs := needsY
	if slope < 0 {
		needs = needsX
	}
	return neuronRule{
		needs: needs, either: true,
		f: func(x float64) float64 { return max(x, 0) + float64(slope)*min(x, 0) },
		slope: func(x, y float64) float64 {
			if n.rule.needs == needsY {
				x = y
			}
			if x > 0 {
				return 1
			}
			return float64(slope)
		},
		tile: func(y, x []float32, _ scratch) { vec.ReLU(y, x, slope) },
		tileGrad: func(dx, dy, x, y []float32, _ scratch) {
			if n.rule.needs == needsY {
				x = y
			}
			vec.ReLUGrad(dx, dy, x, slope)
		},
		cost: stream.Work{Flops: 2},
	}, nil
}

// reluSlope returns the negative slope of a ReLU layer on the CPE path; ok is false for other layers.
func reluSlope(l Layer) (slope float32, ok bool) {
	n, ok := l.(*neuronLayer)
	if !ok || n.Param.GetType() != "ReLU" || n.mpe() {
		return 0, false
	}
	return n.Param.GetReluParam().GetNegativeSlope(), true
}

// signedReLU is reluSlope for a ReLU layer of which the sign of the result tells the gradient, and will be there in Backward.
func signedReLU(l Layer) (slope float32, ok bool) {
	if slope, ok = reluSlope(l); !ok || l.(*neuronLayer).rule.needs != needsY {
		return 0, false
	}
	return slope, true
}

// plainReLU returns a ReLU layer on the CPE path that has no negative slope; nil if the layer is none.
func plainReLU(l Layer) *neuronLayer {
	if slope, ok := reluSlope(l); !ok || slope != 0 {
		return nil
	}
	return l.(*neuronLayer)
}

// Fuse implements Fuser for ReLU layers without negative slope in front of maximum pooling, which need not be rectified before but
// after: of fewer values, and what the pooling reads is not read again in Backward.
func (l *neuronLayer) Fuse(next Layer) Layer {
	pool, isPool := next.(*pooling)
	if plainReLU(l) == nil || !isPool {
		return nil
	}
	return pool.withReLU()
}
