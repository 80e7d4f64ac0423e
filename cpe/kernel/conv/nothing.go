package conv

import (
	"github.com/swcaffe/swcaffe/cpe"
)

// nothing is the algorithm nothing.
var nothing = Algorithm{
	Name: "nothing", Doc: "computes nothing: the batch or the results are empty",
	Directions: everyDirection,
	Empty:      true, Supports: func(*Problem) error { return nil },
	Cost:   func(*Problem) float64 { return 0 },
	Kernel: func(*cpe.Machine, *Problem) (Kernel, error) { return noKernel{}, nil },
}

// noKernel computes an empty problem: it does nothing.
type noKernel struct{}

func (noKernel) Run(Arrays) error { return nil }
func (noKernel) Scratch() int     { return 0 }
