package conv

import "github.com/swcaffe/swcaffe/cpe/kernel/shape"

// Arrays are what a convolution reads and writes: images, weights, biases and results, and the gradients of each. A direction uses
// some of them:
//
//	forward          X, W, Bias -> Y
//	weight gradient  X, DY -> DW, DB
//	input gradient   W, DY -> DX
//	both gradients   X, W, DY -> DX, DW, DB
//
// Bias and DB may be nil, and for a kernel that sums biases' gradients also DW.
type Arrays struct {
	X, W, Bias, Y  []float32
	DX, DW, DB, DY []float32

	Add    bool      // add to DX, or to DW; do not overwrite
	Floor  bool      // results below 0 become 0, NaN stays NaN
	Above  []float32 // ReLU mask, or nil: DX is 0 where this is not above 0
	Finish Finish    // is called on results as soon as they are made, if not nil
}

// Finish works on results in blocks of channels while a core's cache still has them: on the pixels that stand in y[at:at+n], all of one block of
// channels of one image. Core groups call it side by side, once for every pixel of every block.
type Finish func(y []float32, at, n, block int)

// images returns X, or DX where a direction computes it.
func (a *Arrays) images(d shape.Direction) []float32 {
	if d == shape.InputGradient {
		return a.DX
	}
	return a.X
}

// results returns Y, or DY where a direction reads it.
func (a *Arrays) results(d shape.Direction) []float32 {
	if d == shape.Forward {
		return a.Y
	}
	return a.DY
}

// through returns what is read and what is made by a direction that makes images: X and Y, or DY and DX.
func (a *Arrays) through(d shape.Direction) (read, made []float32) {
	if d == shape.InputGradient {
		return a.DY, a.DX
	}
	return a.X, a.Y
}
