package layers

import "github.com/swcaffe/swcaffe/proto/caffepb"

func init() {
	Register(Type{
		Name: "HingeLoss", Doc: "one-versus-all hinge loss of scores, L1 or squared",
		New: func(p *caffepb.LayerParameter, d *Device) Layer {
			l := &hingeLoss{itemLoss: itemLoss{Base: Base{Param: p, Device: d}}}
			squared := p.GetHingeLossParam().GetNorm() == caffepb.HingeLossParameter_L2
			l.term = func(x float32, own bool) (float64, float64) { return hinge(x, own, squared) }
			l.trace = func(x float32, own bool) float32 {
				margin, _ := hinge(x, own, false)
				return float32(margin)
			}
			return l
		},
		Bottoms: Exactly(2), Tops: Exactly(1), Loss: true, NoForceBackward: []int{1},
	})
}

// hingeLoss is Caffe's HingeLoss layer: with s = -1 for the label's class and 1 for the others, the loss of an item is the
// sum over its classes of max(0, 1 + s*x), or of its square (norm: L2). NaN adds nothing.
//
// Forward leaves these terms in the diff of the scores, as Caffe's does. Backward overwrites them; but where the net needs
// no Backward, because the loss has weight 0, a Split below adds them to the gradient. Caffe's numbers contain that.
type hingeLoss struct{ itemLoss }

// TracesGrad implements GradTracer.
func (l *hingeLoss) TracesGrad(i int) bool { return i == 0 }

func hinge(x float32, own, squared bool) (loss, slope float64) {
	s := 1.0
	if own {
		s = -1
	}
	margin := 1 + s*float64(x)
	switch {
	case !(margin > 0):
		return 0, 0
	case squared:
		return margin * margin, 2 * margin * s
	}
	return margin, s
}
