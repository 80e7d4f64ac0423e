package loss

import (
	"errors"
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	register := func(name, doc string, tops int) {
		layers.Register(layers.Type{
			Name: name, Doc: doc,
			Couples: normalizedByCount,
			Params:  []string{"softmax_param", "loss_param"},
			New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
				l := &softmaxLoss{probabilityLoss: probabilityLoss{Base: layers.Base{Param: p, Device: d}, axis: int(p.GetSoftmaxParam().GetAxis())}}
				l.lossOf, l.classGrad, l.gradTile = l.negLog, l.residual, l.residuals
				return l
			},
			Bottoms: layers.Exactly(2), Tops: layers.Between(1, tops), Loss: true, NoForceBackward: []int{1},
		})
	}
	register("SoftmaxWithLoss", "mean of -log softmax(x)[label]; a second top gets the probabilities", 2)
	register("SoftmaxWithLossOHEM", "SoftmaxWithLoss; a third top gets the items' losses", 3)
}

// softmaxLoss is Caffe's SoftmaxWithLoss layer, R-FCN's SoftmaxWithLossOHEM, and SegNet's layer, which weighs each item by the class_weighting
// of its label but divides by the same number. The loss of an item is -log(p[label]); its gradient is p - [class is label]. Probabilities
// are at least the smallest normal float32, so that a loss is at most 87.3365.
type softmaxLoss struct {
	probabilityLoss
	weights []float32 // of the labels; nil: 1
}

func (l *softmaxLoss) SetUp(bottom, top []*blob.Blob) error {
	switch p := l.Param.GetLossParam(); {
	case p.GetWeightByLabelFreqs():
		l.weights = append([]float32{}, p.GetClassWeighting()...)
	case len(p.GetClassWeighting()) > 0:
		return errors.New("loss_param has class_weighting, which needs weight_by_label_freqs: true")
	}
	return l.probabilityLoss.SetUp(bottom, top)
}

func (l *softmaxLoss) Reshape(bottom, top []*blob.Blob) error {
	if err := l.probabilityLoss.Reshape(bottom, top); err != nil {
		return err
	}
	if l.weights != nil && len(l.weights) != l.dims[1] {
		return fmt.Errorf("loss_param has %d values of class_weighting for %d classes", len(l.weights), l.dims[1])
	}
	return nil
}

// weightOf returns the weight of a label.
func (l *softmaxLoss) weightOf(label int) float64 {
	if l.weights == nil {
		return 1
	}
	return float64(l.weights[label])
}

func (l *softmaxLoss) negLog(p []float32, stride, label int) float64 {
	return l.weightOf(label) * negLog(p, stride, label)
}

func (l *softmaxLoss) residual(p float32, class, label int) float64 {
	return l.weightOf(label) * residual(p, class, label)
}

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
	t.EachRow(func(at, n, _ int) { vec.Scale(dx[at:at+n], p[at:], l.scale) })
	l.eachInTile(t, func(at, label int, ok bool) {
		if ok {
			dx[at+label*t.MStride] -= l.scale
			if l.weights != nil {
				for m := range t.M {
					dx[at+m*t.MStride] *= l.weights[label]
				}
			}
			return
		}
		for m := range t.M {
			dx[at+m*t.MStride] = 0
		}
	})
}
