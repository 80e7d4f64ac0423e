package loss

import (
	"math"

	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "MultinomialLogisticLoss", Doc: "mean of -log p[label] of given probabilities",
		Params: []string{},
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &multinomialLoss{itemLoss{Base: layers.Base{Param: p, Device: d}, losses: negLogOwn, slopes: negLogOwnSlopes}}
		},
		Bottoms: layers.Exactly(2), Tops: layers.Exactly(1), Loss: true, NoForceBackward: []int{1},
	})
}

// multinomialLoss is Caffe's MultinomialLogisticLoss layer. Probabilities are at least 1e-20.
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
