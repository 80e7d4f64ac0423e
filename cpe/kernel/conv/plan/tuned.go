package plan

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// Tuner knows which algorithms were found to be fastest on a native machine, and keeps what is found.
type Tuner interface {
	// Choice returns the name of the algorithm to take for a task, if it is known.
	Choice(Key) (algorithm string, known bool)
	// Measured keeps how long the algorithms that can do a task took, first that of the cost model. Choice knows the task afterwards.
	Measured(k Key, took []Timing) error
	// Timings returns how long algorithms took for a task when it was measured, nil if it was not.
	Timings(Key) []Timing
	// Now is the clock to measure with.
	Now() time.Time
}

// Key identifies what is tuned: a direction of a convolution whose images and results lie by planes or in blocks of channels.
type Key struct {
	Shape           shape.Conv
	Direction       shape.Direction
	ImagesInBlocks  bool
	ResultsInBlocks bool
}

// String prints the shape and how images and results lie.
func (t Key) String() string {
	switch {
	case t.ImagesInBlocks && t.ResultsInBlocks:
		return t.Shape.String() + ", in blocks"
	case t.ImagesInBlocks:
		return t.Shape.String() + ", images in blocks"
	case t.ResultsInBlocks:
		return t.Shape.String() + ", results in blocks"
	}
	return t.Shape.String()
}

// Timing is how long an algorithm took.
type Timing struct {
	Algorithm string
	Time      time.Duration
}

// A measurement repeats every candidate at least minRepeats times, and up to maxRepeats while all have taken less than enoughTime
// together; those that take hopeless times as long as the fastest drop out after two. The shortest time counts: what else the
// computer does can only lengthen it.
const (
	minRepeats = 4
	maxRepeats = 20
	enoughTime = 100 * time.Millisecond
	hopeless   = 2
)

// NewTuned plans a convolution on a native machine with the algorithms that a tuner knows. A direction that it does not
// know is computed by the algorithm of the cost model in the first two runs, in which all candidates work side by side:
// they warm up in the first and are measured in the second. From the third run on what the tuner chooses does the work. How images
// may lie is what the cost model's choice can do with: candidates are those that can work on them as they lie.
func NewTuned(m *cpe.Machine, s shape.Conv, t Tuner) (*Conv, error) {
	spec := m.Spec()
	c := &Conv{machine: m, spec: &spec, free: true, tuner: t}
	return c, c.plan(s)
}

// tuned computes one direction of a convolution with what its tuner chooses.
type tuned struct {
	conv       *Conv // whose direction it is
	problem    conv.Problem
	model      *choice      // the cost model's
	candidates []*direction // that of the cost model first
	best       *direction   // once it is found
	weights    []float32
	warm       bool
}

// newTuned prepares a direction.
func newTuned(c *Conv, p conv.Problem) (*direction, error) {
	model, err := c.choose(&p)
	if err != nil {
		return nil, err
	}
	t := &tuned{conv: c, problem: p, model: model}
	return &direction{problem: p, choice: model, tuned: t}, t.settle()
}

// key is what the tuner is asked for.
func (t *tuned) key() Key {
	p := &t.problem
	return Key{p.Shape, p.Direction, p.Images != conv.Planes, p.Results != conv.Planes}
}

// run computes the direction, and finds out more about it. The cost model's choice comes last, so that its results stay.
func (t *tuned) run(a conv.Arrays) error {
	if t.best == nil {
		if err := t.settle(); err != nil {
			return err
		}
	}
	if t.best != nil {
		return t.best.kernel.Run(a)
	}
	if err := t.makeCandidates(); err != nil {
		return err
	}
	if t.warm {
		if err := t.measure(a); err != nil {
			return err
		}
	} else if err := t.warmUp(a); err != nil {
		return err
	}
	return t.candidates[0].kernel.Run(a)
}

// settle takes the tuner's choice, if it has one by now, from its file, these measurements or those of a layer of the same shape.
func (t *tuned) settle() (err error) {
	name, ok := t.conv.tuner.Choice(t.key())
	if !ok {
		return nil
	}
	for _, c := range t.candidates {
		if c.algorithm.Name == name {
			t.best = c
		}
	}
	if t.best == nil {
		if t.best, err = t.named(name); err != nil {
			return fmt.Errorf("the tuning of %v says %s for the %v: %w", t.key(), name, t.problem.Direction, err)
		}
	}
	t.candidates, t.weights = nil, nil
	return nil
}

// named prepares the problem with the algorithm of a name.
func (t *tuned) named(name string) (*direction, error) {
	c, err := byName(&t.problem, name)
	if err != nil {
		return nil, err
	}
	return t.conv.with(t.problem, c)
}

// makeCandidates prepares the cost model's algorithm and the best of each other strategy.
func (t *tuned) makeCandidates() error {
	if t.candidates != nil {
		return nil
	}
	choices := []*choice{t.model}
	for _, st := range []shape.Strategy{shape.Explicit, shape.Implicit, shape.Winograd2, shape.Winograd4, shape.Winograd5} {
		if st == t.model.algorithm.Family {
			continue
		}
		c, err := within(&t.problem, st)
		if err != nil {
			return err
		}
		if c != nil {
			choices = append(choices, c)
		}
	}
	for _, c := range choices {
		d, err := t.conv.with(t.problem, c)
		if err != nil {
			return err
		}
		t.candidates = append(t.candidates, d)
	}
	return nil
}

// attempt runs a candidate. The gradient of weights, which is added to what is there, goes to memory of its own.
func (t *tuned) attempt(c *direction, a conv.Arrays) error {
	if t.problem.Direction != shape.WeightGradient {
		return c.kernel.Run(a)
	}
	if t.weights == nil {
		t.weights = make([]float32, len(a.DW))
	}
	a.DW, a.DB = t.weights, nil
	return c.kernel.Run(a)
}

func (t *tuned) warmUp(a conv.Arrays) error {
	t.warm = true
	for _, c := range t.candidates {
		if err := t.attempt(c, a); err != nil {
			return err
		}
	}
	return nil
}

// measure times the candidates in turns and tells the tuner.
func (t *tuned) measure(a conv.Arrays) error {
	took := make([]Timing, len(t.candidates))
	var sum, least time.Duration
	for repeat := 0; repeat < minRepeats || repeat < maxRepeats && sum < enoughTime; repeat++ {
		for i, c := range t.candidates {
			if repeat >= 2 && took[i].Time > hopeless*least {
				continue
			}
			start := t.conv.tuner.Now()
			if err := t.attempt(c, a); err != nil {
				return err
			}
			time := t.conv.tuner.Now().Sub(start)
			sum += time
			if repeat == 0 || time < took[i].Time {
				took[i] = Timing{c.algorithm.Name, time}
			}
		}
		least = slices.MinFunc(took, func(a, b Timing) int { return cmp.Compare(a.Time, b.Time) }).Time
	}
	return t.conv.tuner.Measured(t.key(), took)
}
