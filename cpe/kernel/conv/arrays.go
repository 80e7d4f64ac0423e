package conv

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// Arrays are the operands of a convolution: images X, weights W, biases Bias, results Y, and their gradients DX, DW, DB, DY. Each direction
// uses some of them:
//
//	forward          X, W, Bias -> Y
//	weight gradient  X, DY -> DW, DB
//	input gradient   W, DY -> DX
//	both gradients   X, W, DY -> DX, DW, DB
//
// Bias and DB may be nil. DW may be nil too if the kernel does the step op.SumBiases.
//
// The operands stand side by side under the names that formulas give them; levels between would only lengthen every use.
type Arrays struct {
	X, W, Bias, Y  []float32
	DX, DW, DB, DY []float32

	// Fixed, if not nil, stands for the values of W: as long as it is the same, W is. Kernels may keep what they make of W.
	Fixed *op.Weights

	Add    bool      // add to DX or DW; do not overwrite
	Floor  bool      // ReLU: negative results become 0; NaN stays NaN
	Above  []float32 // ReLU mask or nil: DX is 0 where Above is not greater than 0
	Finish op.Finish // called on results as soon as they are computed, if not nil
	Single bool      // Finish does not depend on channels: its pieces may be of any length
	Beside []float32 // an array in the layout of Y of which Finish reads what has the results' places, or nil: a kernel may fetch it ahead
}

// Images returns X, or DX for the input gradient.
func (a *Arrays) Images(d shape.Direction) []float32 {
	if d == shape.InputGradient {
		return a.DX
	}
	return a.X
}

// Results returns Y, or DY for the gradients.
func (a *Arrays) Results(d shape.Direction) []float32 {
	if d == shape.Forward {
		return a.Y
	}
	return a.DY
}

// Through returns the source and the destination of a direction whose result is an image: X and Y forward, DY and DX for the input gradient.
func (a *Arrays) Through(d shape.Direction) (src, dst []float32) {
	if d == shape.InputGradient {
		return a.DY, a.DX
	}
	return a.X, a.Y
}
