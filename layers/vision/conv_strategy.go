package vision

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// Strategy implements Strategist.
func (l *convolution) Strategy(d shape.Direction) shape.Strategy {
	return l.conv.Strategy(l.direction(d))
}

// RunnerUp implements Strategist.
func (l *convolution) RunnerUp(d shape.Direction) op.RunnerUp {
	return l.conv.RunnerUp(l.direction(d))
}

// Explain implements layers.Explainer.
func (l *convolution) Explain(d shape.Direction) ([]*op.Explanation, error) {
	e, err := l.conv.Explain(l.direction(d), l.Device.Tuner != nil)
	return []*op.Explanation{e}, err
}

// Refuses implements Strategist.
func (l *convolution) Refuses(d shape.Direction, algorithm string) error {
	return l.conv.Refuses(l.direction(d), algorithm)
}

// Computes implements Strategist.
func (l *convolution) Computes(d shape.Direction, algorithm *conv.Algorithm) bool {
	return algorithm.Computes(l.direction(d))
}

// Algorithm implements Algorithmic.
func (l *convolution) Algorithm(d shape.Direction, joint bool) shape.Algorithm {
	switch {
	case l.MPE() || l.conv == nil:
		return ""
	case joint && d != shape.Forward && !l.parted():
		return l.conv.GradsAlgorithm()
	}
	return l.conv.Algorithm(l.direction(d))
}

// direction returns the convolution's direction for a direction of the layer. A deconvolution swaps Forward and InputGradient.
func (l *convolution) direction(d shape.Direction) shape.Direction {
	if l.transposed && d != shape.WeightGradient {
		return shape.Forward + shape.InputGradient - d
	}
	return d
}
