package loss

import (
	"math"

	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "HingeLoss", Doc: "one-versus-all hinge loss of scores, L1 or squared",
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			l := &hingeLoss{itemLoss: itemLoss{Base: layers.Base{Param: p, Device: d}}}
			squared := p.GetHingeLossParam().GetNorm() == caffepb.HingeLossParameter_L2
			l.traces = true
			losses, slopes := hingeRun, hingeRunSlopes
			if l.MPE() {
				losses, slopes = hinges, hingeSlopes
			}
			l.losses = func(x, trace []float32, own bool) float64 { return losses(x, trace, side(own), squared) }
			l.slopes = func(dx, x []float32, own bool, scale float64) { slopes(dx, x, side(own), scale, squared) }
			return l
		},
		Bottoms: layers.Exactly(2), Tops: layers.Exactly(1), Loss: true, NoForceBackward: []int{1},
	})
}

// hingeLoss is Caffe's HingeLoss layer. With s = -1 for the label's class and 1 for the others, the loss of an item is the sum over its
// classes of max(0, 1 + s*x), or of its square (norm: L2). NaN adds nothing.
//
// As in Caffe, Forward writes these terms to the diff of the scores, and Backward overwrites them. If the loss has weight 0, the net runs
// no Backward here, and a Split below adds the terms to its gradient. Caffe's results contain this effect, so it is reproduced.
type hingeLoss struct{ itemLoss }

// Traits implements Planned. Forward writes the terms to the gradient of the scores.
func (l *hingeLoss) Traits() layers.Traits {
	t := l.itemLoss.Traits()
	t.Traces = layers.SomeBottoms(0)
	return t
}

// side returns s.
func side(own bool) float64 {
	if own {
		return -1
	}
	return 1
}

// hingeRun is hinges with vector instructions.
func hingeRun(x, trace []float32, s float64, squared bool) float64 {
	vec.Affine(trace, x, float32(s), 1)
	vec.Clamp(trace, trace, 0, float32(math.Inf(1)))
	if squared {
		return vec.SumSq(trace)
	}
	return vec.Sum(trace)
}

// hingeRunSlopes is hingeSlopes with vector instructions.
func hingeRunSlopes(dx, x []float32, s, scale float64, squared bool) {
	vec.Affine(dx, x, float32(s), 1)
	if squared {
		vec.Clamp(dx, dx, 0, float32(math.Inf(1)))
		vec.Scale(dx, dx, float32(2*scale*s))
		return
	}
	vec.Above(dx, dx, 0)
	vec.Scale(dx, dx, float32(scale*s))
}

// hinges returns the sum of the terms of some scores. It writes the terms before squaring to trace.
func hinges(x, trace []float32, s float64, squared bool) (sum float64) {
	for i, v := range x {
		margin := 1 + s*float64(v)
		if !(margin > 0) {
			margin = 0
		}
		trace[i] = float32(margin)
		if squared {
			margin *= margin
		}
		sum += margin
	}
	return sum
}

// hingeSlopes writes the derivatives of these terms, times scale.
func hingeSlopes(dx, x []float32, s, scale float64, squared bool) {
	for i, v := range x {
		margin, slope := 1+s*float64(v), s
		if squared {
			slope *= 2 * margin
		}
		if !(margin > 0) {
			slope = 0
		}
		dx[i] = float32(scale * slope)
	}
}
