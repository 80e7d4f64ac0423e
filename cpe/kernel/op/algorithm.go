package op

import (
	"errors"
	"fmt"
	"slices"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// Algorithm is one way to compute one or more directions of an operation with shapes of type S. K is what it makes: a kernel. It is a row of a
// table: most fields are zero in most rows, so that they stand side by side.
type Algorithm[S Shape, K any] struct {
	// Name identifies the algorithm in logs, reports, tuning files and -strategy.
	Name string
	// Doc describes it in one sentence.
	Doc string
	// Family is the strategy to which the algorithm belongs; Auto for operations without families.
	Family shape.Strategy
	// Directions lists the directions that the algorithm computes; nil: all.
	Directions []shape.Direction
	// Types are the number types in which the algorithm computes.
	Types Types
	// Stores marks an algorithm whose Forward also reads and writes arrays in its Types (shape.RoundedBlocks).
	Stores bool
	// Empty marks the algorithm for empty problems, which no other algorithm computes.
	Empty bool
	// Special marks an algorithm for a narrow set of problems. General algorithms of its family decline where it supports a problem.
	Special bool
	// General marks an algorithm that declines where a special algorithm of its family supports a problem.
	General bool
	// Asked marks an algorithm that runs only if -strategy names it or its family.
	Asked bool
	// Supports returns nil, or the reason why the algorithm cannot compute p. It does not ask about other algorithms. [Algorithm.Refuses] has
	// checked before that p is not empty, and that the algorithm has its direction and its types. A nil Supports supports all.
	Supports func(p *Problem[S]) error
	// Declines, if not nil, returns nil or the reason why the algorithm leaves p to others, beyond those of General. An algorithm that declines
	// runs only if it is forced or if all others decline or refuse too.
	Declines func(p *Problem[S]) error
	// Cost estimates the work on the host, in operations of the GEMM micro-kernel. On a modelled machine the kernel itself is run for its
	// charges instead. If it is nil, the order of the list decides among the algorithms that do not decline.
	Cost func(p *Problem[S]) float64
	// Works returns the layouts of images and results in which the algorithm computes; nil: planes. It converts images and results of other
	// layouts.
	Works func(p *Problem[S]) (images, results shape.Layout)
	// Steps returns nil, or the reason why the kernel for p does not do a step; a nil Steps refuses all.
	Steps func(p *Problem[S], s Step) error
	// Kernel prepares a kernel for p on machine m.
	Kernel func(m *cpe.Machine, p *Problem[S]) (K, error)
}

// Refuses returns the reason why an algorithm cannot compute a problem, or nil.
func (a *Algorithm[S, K]) Refuses(p *Problem[S]) error {
	switch {
	case p.Empty() && !a.Empty:
		return errors.New("there are no images or no results")
	case a.Empty && !p.Empty():
		return errors.New("the problem is not empty")
	case a.Empty:
		return nil
	case p.Spec.LeavesOut(a.Name):
		return errors.New("it is left out (-without)")
	case !a.Computes(p.Direction):
		return errors.New("it does not compute this direction")
	case a.Types != (Types{}) && a.Types != p.Types:
		return fmt.Errorf("it computes in %v", a.Types)
	case p.Types == Quantised && a.Types != p.Types:
		return errors.New("it computes in float32")
	case p.Stored() && !(a.Stores && p.Direction == shape.Forward):
		return errors.New("it reads and writes only values of float32")
	case a.Supports == nil:
		return nil
	}
	return a.Supports(p)
}

// Computes reports whether the algorithm computes a direction for some shapes.
func (a *Algorithm[S, K]) Computes(d shape.Direction) bool {
	return a.Directions == nil || slices.Contains(a.Directions, d)
}

// Layouts returns the layouts in which an algorithm computes.
func (a *Algorithm[S, K]) Layouts(p *Problem[S]) (images, results shape.Layout) {
	if a.Works == nil {
		return shape.Planes, shape.Planes
	}
	return a.Works(p)
}
