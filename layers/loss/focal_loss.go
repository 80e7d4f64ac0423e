package loss

import (
	"fmt"
	"math"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	for _, name := range []string{"FocalLoss", "SoftmaxFocalLoss"} {
		layers.Register(layers.Type{
			Name: name, Doc: "mean of -alpha (1 - p)^gamma log p with p = softmax(x)[label]; a second top gets the probabilities",
			Params: []string{"focal_loss_param", "softmax_param", "loss_param"},
			New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
				l := &focalLoss{probabilityLoss: probabilityLoss{Base: layers.Base{Param: p, Device: d}, axis: int(p.GetSoftmaxParam().GetAxis())}}
				f := p.GetFocalLossParam()
				l.alpha, l.gamma = float64(f.GetAlpha()), float64(f.GetGamma())
				l.lossOf, l.classGrad, l.gradTile, l.weight = l.focus, residual, l.residuals, l.slope
				return l
			},
			Bottoms: layers.Exactly(2), Tops: layers.Between(1, 2), Loss: true, NoForceBackward: []int{1},
		})
	}
}

// focalLoss is the FocalLoss layer of several forks, on softmax probabilities (Lin et al. 2017): the loss of an item with probability p of its
// label is -alpha * (1 - p)^gamma * log p.
type focalLoss struct {
	probabilityLoss
	alpha, gamma float64
}

func (l *focalLoss) SetUp(bottom, top []*blob.Blob) error {
	p := l.Param.GetFocalLossParam()
	if p == nil && l.Device.Log != nil {
		l.Device.Log.Warnf("layer %q: without focal_loss_param this could be CaffeMex's FocalLoss, which takes sigmoids; here it takes the softmax", l.Param.GetName())
	}
	if p.GetType() != caffepb.FocalLossParameter_ORIGIN {
		return fmt.Errorf("type: %v is not supported, only ORIGIN is", p.GetType())
	}
	if !(l.gamma >= 0) {
		return fmt.Errorf("gamma must be at least 0, it is %g", l.gamma)
	}
	return l.probabilityLoss.SetUp(bottom, top)
}

func (l *focalLoss) focus(p []float32, stride, label int) float64 {
	q := float64(p[label*stride])
	return -l.alpha * math.Pow(max(0, 1-q), l.gamma) * math.Log(max(q, smallestNormal))
}

// slope returns the factor w of the gradient w * (p[class] - [class is label]). It is 1 for alpha = 1 and gamma = 0.
func (l *focalLoss) slope(p float64) float64 {
	rest := max(1-p, smallestNormal)
	return l.alpha * (math.Pow(rest, l.gamma) - l.gamma*p*math.Pow(rest, l.gamma-1)*math.Log(max(p, smallestNormal)))
}

func (l *focalLoss) residuals(t *stream.Tile) {
	p, dx := t.In[0], t.Out[0]
	l.eachInTile(t, func(at, label int, ok bool) {
		if !ok {
			for m := range t.M {
				dx[at+m*t.MStride] = 0
			}
			return
		}
		w := l.scale * float32(l.slope(float64(p[at+label*t.MStride])))
		for m := range t.M {
			dx[at+m*t.MStride] = w * p[at+m*t.MStride]
		}
		dx[at+label*t.MStride] -= w
	})
}
