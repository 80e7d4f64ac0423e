package loss

import (
	"math"

	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	register := func(name, doc string, tops int) {
		layers.Register(layers.Type{
			Name: name, Doc: doc,
			New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
				l := &softmaxLoss{probabilityLoss{Base: layers.Base{Param: p, Device: d}, axis: int(p.GetSoftmaxParam().GetAxis())}}
				l.lossOf, l.classGrad, l.gradTile = negLog, residual, l.residuals
				return l
			},
			Bottoms: layers.Exactly(2), Tops: layers.Between(1, tops), Loss: true, NoForceBackward: []int{1},
		})
	}
	register("SoftmaxWithLoss", "mean of -log softmax(x)[label]; a second top gets the probabilities", 2)
	register("SoftmaxWithLossOHEM", "SoftmaxWithLoss; a third top gets the items' losses", 3)
}

// softmaxLoss is Caffe's SoftmaxWithLoss layer, and R-FCN's SoftmaxWithLossOHEM. The loss of an item is -log(p[label]); its gradient is p - [class is label]. Probabilities
// are at least the smallest normal float32, so that a loss is at most 87.3365.
type softmaxLoss struct{ probabilityLoss }

const smallestNormal = 1.17549435e-38

func negLog(p []float32, stride, label int) float64 {
	return -math.Log(max(float64(p[label*stride]), smallestNormal))
}

func residual(p float32, class, label int) float64 {
	if class == label {
		return float64(p) - 1
	}
	return float64(p)
}

func (l *softmaxLoss) residuals(t *stream.Tile) {
	p, dx := t.In[0], t.Out[0]
	part.EachRow(t, func(at, n, _ int) { vec.Scale(dx[at:at+n], p[at:], l.scale) })
	l.eachInTile(t, func(at, label int, ok bool) {
		if ok {
			dx[at+label*t.MStride] -= l.scale
			return
		}
		for m := range t.M {
			dx[at+m*t.MStride] = 0
		}
	})
}
