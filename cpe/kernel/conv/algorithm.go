package conv

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// Problem is one direction of a convolution.
type Problem = op.Problem[shape.Conv]

// Algorithm is one way to compute one or more directions of a convolution.
type Algorithm = op.Algorithm[shape.Conv, Kernel]

// Kernel computes one problem, as often as it is run.
type Kernel interface {
	// Run computes the direction. It allocates nothing.
	Run(a Arrays) error
	// Scratch returns the number of float32 values of the machine's scratch memory that Run uses.
	Scratch() int
}

// EveryDirection lists the directions that most algorithms compute.
var EveryDirection = []shape.Direction{shape.Forward, shape.WeightGradient, shape.InputGradient}

// Panel is the number of output channels that are side by side in packed weights: a multiple of the columns of every micro-kernel.
const Panel = 32

// GroupUnits is the number of units of work for each core group to which rows or pixels are cut into parts of their panels: cores are not equally
// fast, and a few units cannot be shared evenly.
const GroupUnits = 8
