package layers

import (
	"math"

	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	Register(Type{
		Name: "MultinomialLogisticLoss", Doc: "mean of -log p[label] of given probabilities",
		New: func(p *caffepb.LayerParameter, d *Device) Layer {
			return &multinomialLoss{itemLoss{Base: Base{Param: p, Device: d}, term: negLogOwn}}
		},
		Bottoms: Exactly(2), Tops: Exactly(1), Loss: true, NoForceBackward: []int{1},
	})
}

// multinomialLoss is Caffe's MultinomialLogisticLoss layer. Probabilities below 1e-20 count as that.
type multinomialLoss struct{ itemLoss }

func negLogOwn(p float32, own bool) (loss, slope float64) {
	if !own {
		return 0, 0
	}
	v := max(float64(p), leastProbability)
	return -math.Log(v), -1 / v
}
