package layers

import (
	"math"

	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	Register(Type{
		Name: "MultinomialLogisticLoss", Doc: "mean of -log p[label] of given probabilities",
		New: func(p *caffepb.LayerParameter, d *Device) Layer {
			return &multinomialLoss{itemLoss{Base: Base{Param: p, Device: d}, losses: negLogOwn, slopes: negLogOwnSlopes}}
		},
		Bottoms: Exactly(2), Tops: Exactly(1), Loss: true, NoForceBackward: []int{1},
	})
}

// multinomialLoss is Caffe's MultinomialLogisticLoss layer. Probabilities below 1e-20 count as that.
type multinomialLoss struct{ itemLoss }

func negLogOwn(p, _ []float32, own bool) float64 {
	if !own {
		return 0
	}
	return -math.Log(max(float64(p[0]), leastProbability))
}

func negLogOwnSlopes(dx, p []float32, own bool, scale float64) {
	if !own {
		clear(dx)
		return
	}
	dx[0] = float32(scale * (-1 / max(float64(p[0]), leastProbability)))
}
