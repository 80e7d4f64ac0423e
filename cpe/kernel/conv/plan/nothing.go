package plan

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
)

// nothing is the algorithm nothing.
var nothing = conv.Algorithm{
	Name: "nothing", Doc: "computes nothing: the batch or the results are empty",
	Directions: conv.EveryDirection,
	Empty:      true, Supports: func(*conv.Problem) error { return nil },
	Cost:   func(*conv.Problem) float64 { return 0 },
	Kernel: func(*cpe.Machine, *conv.Problem) (conv.Kernel, error) { return noKernel{}, nil },
}

// noKernel computes an empty problem: it does nothing.
type noKernel struct{}

func (noKernel) Run(conv.Arrays) error { return nil }
func (noKernel) Scratch() int          { return 0 }
