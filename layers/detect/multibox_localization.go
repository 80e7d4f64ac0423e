package detect

import (
	"math"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
	"github.com/swcaffe/swcaffe/internal/base/box"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/layers/part"
)

// localization is the loss of the codes: the sum over the values of all pairs of f(prediction - target), where f is d^2/2, or |d| - 1/2 for
// |d| >= 1 with SMOOTH_L1. With encode_variance_in_target, d is divided by the variance.
//
// As in SSD, the gradient is then f'(d), without the factor 1/variance of the derivative.
type localization struct {
	box.Coder
	square               bool
	inside, insidePriors bool // corners outside of the image have no loss; corners of the priors
	predictions
	// target is a code for each prediction. used is the factor of prediction - target: 0 for predictions that are not of a pair. slope is f'.
	target, used, slope *blob.Blob

	sum, grad *stream.Kernel
	scale     float32
	ins       [3][]float32
	outs      [1][]float32
}

func (l *localization) reshape(b *layers.Base, p predictions) error {
	if l.predictions == p {
		return nil
	}
	l.predictions = p
	for _, a := range []*blob.Blob{l.target, l.used, l.slope} {
		a.Reshape(p.images, p.priors, p.codes, 4)
	}
	if b.MPE() {
		return nil
	}
	streams, dims := part.StreamsOf(b), [3]int{1, 1, l.target.Count()}
	l.sum = streams.Make(stream.Pass{
		Name: "MultiBoxLoss locations", Dims: dims, Ins: part.Arrays(3), Outs: part.Arrays(1), Sums: 1, Cost: stream.Work{Flops: 6},
		Op: func(t *stream.Tile) { t.Sum[0] += l.add(t.Out[0][:t.I], t.In[0], t.In[1], t.In[2]) },
	})
	l.grad = streams.Make(stream.Pass{
		Name: "MultiBoxLoss locations' gradient", Dims: dims, Ins: part.Arrays(1), Outs: part.Arrays(1), Cost: stream.Work{Flops: 1},
		Op: func(t *stream.Tile) { vec.Scale(t.Out[0][:t.I], t.In[0], l.scale) },
	})
	return streams.Err
}

// at returns the place of a pair's code.
func (l *localization) at(p pair, label int) int {
	if l.codes == 1 {
		label = 0
	}
	return 4 * ((p.image*l.priors+p.prior)*l.codes + label)
}

// encode writes the targets of all pairs.
func (l *localization) encode(pairs []pair, objects []object, prior, codes, decoded []float32) {
	target, used := l.target.Data(), l.used.Data()
	clear(target)
	clear(used)
	for _, p := range pairs {
		of, variance := box.Of(prior[4*p.prior:]), [4]float32(prior[4*(l.priors+p.prior):])
		at := l.at(p, objects[p.object].label)
		code := l.Encode(of, variance, objects[p.object].Box)
		copy(target[at:], code[:])
		var corners [4]float32
		if l.inside {
			corners = [4]float32{of.XMin, of.YMin, of.XMax, of.YMax}
			if !l.insidePriors {
				corners = [4]float32(decoded[at:])
			}
		}
		for k := range 4 {
			switch {
			case l.inside && box.Outside(corners[k]):
			case l.Plain:
				used[at+k] = 1 / variance[k]
			default:
				used[at+k] = 1
			}
		}
	}
}

// drop removes the target of a pair. Mining, which dissolves pairs, needs one code for all classes.
func (l *localization) drop(p pair) { clear(l.used.Data()[l.at(p, 0):][:4]) }

// lossOf returns the loss of a pair.
func (l *localization) lossOf(p pair, codes []float32) float64 {
	at := l.at(p, 0)
	var slope [4]float32
	return l.add(slope[:], codes[at:], l.target.Data()[at:], l.used.Data()[at:])
}

// add writes the slopes and returns the sum of the terms.
func (l *localization) add(slope, codes, target, used []float32) (sum float64) {
	for i := range slope {
		if used[i] == 0 {
			slope[i] = 0
			continue
		}
		d := (float64(codes[i]) - float64(target[i])) * float64(used[i])
		if l.square || math.Abs(d) < 1 {
			sum += d * d / 2
			slope[i] = float32(d)
			continue
		}
		sum += math.Abs(d) - 0.5
		slope[i] = float32(part.Sign(d))
	}
	return sum
}

// run computes the slopes and returns the loss.
func (l *localization) run(codes []float32) (float64, error) {
	target, used, slope := l.target.Data(), l.used.Data(), l.slope.Data()
	if l.sum == nil {
		return l.add(slope, codes, target, used), nil
	}
	l.ins, l.outs[0] = [3][]float32{codes, target, used}, slope
	err := l.sum.Run(l.ins[:], l.outs[:])
	return l.sum.Sums()[0], err
}

func (l *localization) backward(dx []float32, scale float64) error {
	slope := l.slope.Data()
	if l.grad != nil {
		l.scale = float32(scale)
		l.ins[0], l.outs[0] = slope, dx
		return l.grad.Run(l.ins[:1], l.outs[:])
	}
	for i, s := range slope {
		dx[i] = float32(scale * float64(s))
	}
	return nil
}
