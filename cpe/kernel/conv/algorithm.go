package conv

import (
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// ConvAlgorithm is one way to compute one or more directions of a convolution.
type Algorithm struct {
	// Name is what logs, reports, tuning files and -strategy call it.
	Name string
	// Doc is a sentence about it.
	Doc string
	// Family is the strategy that it belongs to.
	Family shape.Strategy
	// Directions are those that it can compute.
	Directions []shape.Direction
	// Asked marks an algorithm that is taken only where -strategy asks for it or its family.
	Asked bool
	// Supports returns nil, or why it cannot compute a problem that is not empty and of one of its directions.
	Supports func(p *Problem) error
	// Declines returns nil, or why another algorithm is sure to be better. It is then only taken if it is forced, or if there is no other.
	Declines func(p *Problem) error
	// Cost estimates the work on the host, in operations of the matrix micro-kernel. On a modelled machine the kernel itself is charged.
	Cost func(p *Problem) float64
	// Works are the layouts of images and results that it works in. It converts what lies otherwise.
	Works func(p *Problem) (images, results Layout)
	// Can says what else it does on the way.
	Can func(p *Problem) Abilities
	// Kernel prepares to run.
	Kernel func(m *cpe.Machine, p *Problem) (Kernel, error)
}

// Kernel computes one problem again and again.
type Kernel interface {
	// Run computes the direction. It allocates nothing.
	Run(a Arrays) error
	// Scratch is how many values of scratch memory Run takes of the machine.
	Scratch() int
}

// Abilities are what a kernel can do besides: a set.
type Abilities int

const (
	// FloorResults: the kernel honours Arrays.Floor.
	FloorResults Abilities = 1 << iota
	// FinishResults: it honours Arrays.Finish.
	FinishResults
	// SetWeights: it overwrites DW unless Arrays.Add. Others always add.
	SetWeights
	// SumBiases: it computes DB.
	SumBiases
	// MaskImages: it honours Arrays.Above.
	MaskImages
	// AddImages: it honours Arrays.Add for DX. Others always overwrite.
	AddImages
)

// refuses returns nil if an algorithm can compute a problem, or why not.
func (a *Algorithm) refuses(p *Problem) error {
	switch {
	case p.empty():
		if a != &algorithms[0] {
			return fmt.Errorf("there are no images or no results")
		}
		return nil
	case !slices.Contains(a.Directions, p.Direction):
		return fmt.Errorf("it does not compute the %v", p.Direction)
	}
	return a.Supports(p)
}

// declines returns why another algorithm is sure to be better, or nil.
func (a *Algorithm) declines(p *Problem) error {
	if a.Declines == nil {
		return nil
	}
	return a.Declines(p)
}

// can returns the abilities that an algorithm has for a problem.
func (a *Algorithm) can(p *Problem) Abilities {
	if a.Can == nil {
		return 0
	}
	return a.Can(p)
}

// works returns the layouts that an algorithm works in.
func (a *Algorithm) works(p *Problem) (images, results Layout) {
	if a.Works == nil {
		return Planes, Planes
	}
	return a.Works(p)
}

// staged makes a kernel of stages.
func staged(build func(t *task) error) func(m *cpe.Machine, p *Problem) (Kernel, error) {
	return func(m *cpe.Machine, p *Problem) (Kernel, error) {
		t := &task{Problem: *p, machine: m}
		return t, build(t)
	}
}

// noKernel computes an empty problem.
type noKernel struct{}

func (noKernel) Run(Arrays) error { return nil }
func (noKernel) Scratch() int     { return 0 }
