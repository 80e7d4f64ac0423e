package vision

import "github.com/swcaffe/swcaffe/layers"

// operands returns the weights and the biases that Forward computes with, and conv.Arrays.Fixed. There may be no biases.
func (l *convolution) operands() (w, bias []float32, fixed uint64, err error) {
	if l.folded.On() {
		return l.folded.Operands(l.Device.Machine, l.bias)
	}
	if l.bias {
		bias = l.Weights[1].Values()
	}
	if l.arranged.Inference {
		fixed = l.numbered.Of(l.Weights[0])
	}
	return l.Weights[0].Values(), bias, fixed, nil
}

// Fold implements layers.Folder.
func (l *convolution) Fold(maps []layers.Map) { l.folded.Set(maps, l.Weights) }
