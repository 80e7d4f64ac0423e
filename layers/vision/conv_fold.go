package vision

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/layers"
)

// operands returns the weights and the biases that Forward computes with a kernel, and conv.Arrays.Fixed, as part.Fixed.Take.
func (l *convolution) operands(k op.Keeper) (w, bias []float32, fixed *op.Weights, err error) {
	return l.fixed.Take(l.Device.Machine, l.Weights, k, l.arranged.Inference)
}

// keeper returns the kernel of Forward if it may keep packed weights, else nil.
func (l *convolution) keeper() op.Keeper {
	if l.conv == nil {
		return nil
	}
	return l.conv.Keeper(l.direction(shape.Forward))
}

// Fold implements layers.Folder.
func (l *convolution) Fold(maps []layers.Map) { l.fixed.Fold(maps, l.Weights) }
