package conv

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
)

// task is the state shared by the stages of one kernel: the problem, the machine, and the arrays of the current run.
type task struct {
	Problem
	machine  *cpe.Machine
	args     Arrays
	scratch  cpe.Scratch
	stages   []stage
	partials *stream.Partials // partial weight gradients, if not nil
}

// stage is a program that all core groups run together. The stages of a kernel run one after the other.
type stage struct {
	cpe.Program
	groups int // number of core groups to use; 0: all
}

// sumParts reserves n partial sums if the direction is the weight gradient.
func (t *task) sumParts(n int) (err error) {
	if t.Direction == shape.WeightGradient {
		t.partials, err = stream.NewPartials(t.machine, n, t.Shape.Out*t.Shape.Depth())
	}
	return err
}

// takes records the scratch memory that the kernel needs.
func (t *task) takes(s cpe.Scratch) { t.scratch = s }

// Scratch returns the number of values of scratch memory that Run uses.
func (t *task) Scratch() int { return t.machine.Needs(t.scratch) }

// Run computes the direction.
func (t *task) Run(a Arrays) error {
	t.machine.TakeScratch(t.scratch)
	return t.work(a)
}

// work runs the stages; the caller has taken the scratch memory.
func (t *task) work(a Arrays) error {
	t.args = a
	for _, s := range t.stages {
		if err := t.machine.Run(s.Program, s.groups); err != nil {
			return err
		}
	}
	return t.partials.AddTo(a.DW)
}
