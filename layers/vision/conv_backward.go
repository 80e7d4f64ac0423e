package vision

import (
	"slices"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// parted reports whether the gradients of parameters and of bottoms are computed separately.
func (l *convolution) parted() bool {
	return l.MPE() || l.transposed || l.conv == nil || !l.conv.JoinsGrads()
}

func (l *convolution) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if !l.parted() && l.ParamGrad(0) && !slices.Contains(propagateDown, false) {
		return l.backwardJoined(top, bottom)
	}
	if err := l.BackwardParams(top, bottom); err != nil {
		return err
	}
	return l.BackwardBottoms(top, propagateDown, bottom)
}

// backwardJoined computes the gradients of bottoms and parameters together.
func (l *convolution) backwardJoined(top, bottom []*blob.Blob) error {
	for i := range top {
		g := conv.Arrays{X: bottom[i].Data(), W: l.Weights[0].Values(), DY: top[i].Diff(), DX: bottom[i].Diff()}
		g.DW, g.Add = l.Weights[0].Gradient()
		if l.bias && l.ParamGrad(1) {
			g.DB = l.Weights[1].Diff()
		}
		g.Above = l.above(i, bottom[i])
		if err := l.conv.Run(shape.BothGradients, g); err != nil {
			return err
		}
	}
	return nil
}

// above returns the values of a bottom if the kernel also applies the Backward of the ReLU layer on it, else nil.
func (l *convolution) above(i int, bottom *blob.Blob) []float32 {
	if !l.arranged.ReLUGrad.Has(i) {
		return nil
	}
	return bottom.Data()
}

// BackwardParams implements PartedBackward.
func (l *convolution) BackwardParams(top, bottom []*blob.Blob) error {
	for i := range top {
		var db []float32 // set if the kernel computes it along with the weights' gradient
		if l.bias && l.ParamGrad(1) {
			db = l.Weights[1].Diff()
			if !l.ParamGrad(0) || l.MPE() || l.transposed || !l.conv.Does(shape.WeightGradient, op.SumBiases) {
				if err := l.biasGrad.Run(db, top[i].Diff()); err != nil {
					return err
				}
				db = nil
			}
		}
		if l.ParamGrad(0) {
			if err := l.weightGrad(bottom[i].Data(), top[i].Diff(), db); err != nil {
				return err
			}
		}
	}
	return nil
}

// BackwardBottoms implements PartedBackward.
func (l *convolution) BackwardBottoms(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	for i := range top {
		if propagateDown[i] {
			if err := l.inputGrad(i, top[i].Diff(), bottom[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// weightGrad computes the gradient of the weights and, if db is not nil, of the biases.
func (l *convolution) weightGrad(x, dy, db []float32) error {
	if l.transposed {
		x, dy = dy, x
	}
	if l.MPE() {
		convWeightGradMPE(&l.shape, x, dy, l.Weights[0].Diff())
		return nil
	}
	dw, add := l.Weights[0].Gradient()
	return l.conv.Run(shape.WeightGradient, conv.Arrays{X: x, DY: dy, DW: dw, DB: db, Add: add})
}

// inputGrad computes the gradient of bottom i, and applies the Backward of a ReLU layer on that bottom if it is arranged so.
func (l *convolution) inputGrad(i int, dy []float32, bottom *blob.Blob) error {
	w, dx := l.Weights[0].Values(), bottom.Diff()
	switch {
	case l.MPE() && l.transposed:
		convForwardMPE(&l.shape, dy, w, nil, dx)
	case l.MPE():
		convInputGradMPE(&l.shape, dy, w, dx)
	case l.transposed:
		return l.conv.Run(shape.Forward, conv.Arrays{X: dy, W: w, Y: dx})
	default:
		return l.conv.Run(shape.InputGradient, conv.Arrays{DY: dy, W: w, DX: dx, Add: l.arranged.AddGrad, Above: l.above(i, bottom)})
	}
	return nil
}
