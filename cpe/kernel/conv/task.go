package conv

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/stream"
)

// Task is the state shared by the stages of one kernel: the problem, the machine, and the arrays of the current run.
type Task struct {
	Problem
	Machine  *cpe.Machine
	Args     Arrays
	Reserved cpe.Scratch // scratch memory that Run takes
	Stages   []Stage
	Partials *stream.Partials // partial weight gradients, if not nil
	*op.Kept                  // the packed weights, if not nil
	Plan     fmt.Stringer     // the kernel's blocking, an immutable value, if not nil
}

// NewTask returns a task without stages. A task for planning only has no machine.
func NewTask(m *cpe.Machine, p *Problem) *Task { return &Task{Problem: *p, Machine: m} }

// Bare returns a task for the same problem without a machine or arrays, for what outlives a run (op.Kept.Restore).
func (t *Task) Bare() *Task { return NewTask(nil, &t.Problem) }

// Stage is a program that all core groups run together. The stages of a kernel run one after the other.
type Stage struct {
	cpe.Program
	Groups int // number of core groups to use; 0: all
	// Resumed: the stage goes on with an earlier stage's work in the same threads; see cpe.Machine.Resume.
	Resumed bool
	// Skipped, if not nil, is asked in each run whether the stage can be left out.
	Skipped func() bool
	Packs   *op.Kept // the stage packs weights for it, if not nil
}

// Stages returns stages that all core groups run.
func Stages(programs ...cpe.Program) []Stage {
	list := make([]Stage, len(programs))
	for i, p := range programs {
		list[i].Program = p
	}
	return list
}

// SumParts plans n partial sums of the weight gradient. A single part needs no array of its own: its stages add to DW.
func (t *Task) SumParts(n int) (err error) {
	if t.Direction == shape.WeightGradient && n > 1 {
		t.Partials, err = stream.NewPartials(t.Machine, n, t.Shape.Out*t.Shape.Depth())
	}
	return err
}

// Scratch returns the number of values of scratch memory that Run uses.
func (t *Task) Scratch() int { return t.Machine.Needs(t.Reserved) }

// Blocking describes the kernel's plan, "" if it has none.
func (t *Task) Blocking() string {
	if t.Plan == nil {
		return ""
	}
	return t.Plan.String()
}

// Run computes the direction.
func (t *Task) Run(a Arrays) error {
	t.Machine.TakeScratch(t.Reserved)
	return t.RunStages(a)
}

// RunStages runs the stages; the caller has taken the scratch memory.
func (t *Task) RunStages(a Arrays) error {
	t.Args = a
	t.Partials.Open()
	for i := range t.Stages {
		if err := t.RunStage(&t.Stages[i]); err != nil {
			return err
		}
	}
	return t.Partials.AddTo(a.DW)
}

// RunStage runs a stage with the arrays of the present run.
func (t *Task) RunStage(s *Stage) error {
	run := t.Machine.Run
	switch {
	case s.Skipped != nil && s.Skipped():
		return nil
	case s.Packs != nil:
		return s.Packs.Pack(t.Args.Fixed, func() error { return run(s.Program, s.Groups) })
	case s.Resumed:
		run = t.Machine.Resume
	}
	return run(s.Program, s.Groups)
}

// Staged returns a Kernel function for algorithms whose kernels are tasks: build fills in the task's stages.
func Staged(build func(t *Task) error) func(m *cpe.Machine, p *Problem) (Kernel, error) {
	return func(m *cpe.Machine, p *Problem) (Kernel, error) {
		t := NewTask(m, p)
		return t, build(t)
	}
}
