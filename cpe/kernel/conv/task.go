package conv

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
)

// task is what the stages of one kernel have in common: the problem, the machine, and the arrays of the run that is under way.
type task struct {
	Problem
	machine  *cpe.Machine
	args     Arrays
	scratch  cpe.Scratch
	stages   []stage
	partials *stream.Partials // of the weights' gradient, if not nil
}

// stage is a program that core groups run together. The stages of a kernel follow each other.
type stage struct {
	cpe.Program
	groups int // how many core groups the work is worth; 0: all
}

// sumParts makes room for partial sums of the weights' gradient, if that is the direction.
func (t *task) sumParts(n int) (err error) {
	if t.Direction == shape.WeightGradient {
		t.partials, err = stream.NewPartials(t.machine, n, t.Shape.Out*t.Shape.Depth())
	}
	return err
}

// takes notes what scratch the kernel takes.
func (t *task) takes(s cpe.Scratch) { t.scratch = s }

// Scratch returns how many values of scratch memory Run takes.
func (t *task) Scratch() int { return t.machine.Needs(t.scratch) }

// Run computes the direction.
func (t *task) Run(a Arrays) error {
	t.machine.TakeScratch(t.scratch)
	return t.work(a)
}

// work runs the stages with scratch that has been taken.
func (t *task) work(a Arrays) error {
	t.args = a
	for _, s := range t.stages {
		if err := t.machine.Run(s.Program, s.groups); err != nil {
			return err
		}
	}
	return t.partials.AddTo(a.DW)
}
