package conv

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// Tuner knows which strategies were found to be fastest on a native machine, and keeps what is found.
type Tuner interface {
	// Choice returns the strategy to take for a task, if it is known.
	Choice(Task) (shape.Strategy, bool)
	// Measured keeps how long the strategies that can do a task took, first that of the cost model. Choice knows the task afterwards.
	Measured(t Task, took []Timing) error
	// Now is the clock to measure with.
	Now() time.Time
}

// Task is what is tuned: a direction of a convolution whose images and results lie by planes or in blocks of channels.
type Task struct {
	Shape           shape.Conv
	Direction       shape.Direction
	ImagesInBlocks  bool
	ResultsInBlocks bool
}

// String prints the shape and how images and results lie.
func (t Task) String() string {
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

// Timing is how long a strategy took.
type Timing struct {
	Strategy shape.Strategy
	Time     time.Duration
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

// NewTuned plans a convolution on a native machine with the strategies that a tuner knows. A direction that it does not
// know is computed by the strategy of the cost model in the first two runs, in which all candidates work side by side:
// they warm up in the first and are measured in the second. From the third run on what the tuner chooses does the work. How images
// may lie is what the cost model's choice can do with: candidates are those that can work on them as they lie.
func NewTuned(m *cpe.Machine, s shape.Conv, t Tuner) (*Conv, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	spec := m.Spec()
	found, err := chooseStrategies(&spec, s, shape.Auto)
	if err != nil {
		return nil, err
	}
	c, err := newConv(m, s, found)
	if err != nil {
		return nil, err
	}
	c.free, c.tuner = true, t
	return c, c.takeStrategies()
}

// tuned computes one direction of a convolution with what its tuner chooses.
type tuned struct {
	conv       *Conv // whose direction it is
	direction  shape.Direction
	candidates []*Conv // that of the cost model first
	best       *Conv   // once it is found
	weights    []float32
	warm       bool
}

// task is what the tuner is asked for.
func (t *tuned) task() Task {
	return Task{t.conv.shape, t.direction, t.conv.blocked[0], t.conv.blocked[1]}
}

// run computes the direction, and finds out more about it. The cost model's choice comes last, so that its results stay.
func (t *tuned) run(args convArrays) error {
	if t.best == nil {
		if err := t.settle(); err != nil {
			return err
		}
	}
	if t.best != nil {
		return t.best.run(t.direction, args)
	}
	if err := t.makeCandidates(); err != nil {
		return err
	}
	if t.warm {
		if err := t.measure(args); err != nil {
			return err
		}
	} else if err := t.warmUp(args); err != nil {
		return err
	}
	return t.candidates[0].run(t.direction, args)
}

// settle takes the tuner's choice, if it has one by now, from its file, these measurements or those of a layer of the same shape.
func (t *tuned) settle() (err error) {
	st, ok := t.conv.tuner.Choice(t.task())
	if !ok {
		return nil
	}
	i := slices.IndexFunc(t.candidates, func(c *Conv) bool { return c.plan.Strategy[t.direction] == st })
	switch {
	case i >= 0:
		t.best = t.candidates[i]
	case !t.can(st):
		return fmt.Errorf("the tuning of %v says %v for the %v, which %[2]v cannot compute", t.task(), st, t.direction)
	default:
		if t.best, err = t.with(st); err != nil {
			return err
		}
	}
	t.conv.plan.Strategy[t.direction] = st
	t.candidates, t.weights = nil, nil
	return nil
}

// can reports whether a strategy can compute the direction of images and results as they lie.
func (t *tuned) can(st shape.Strategy) bool {
	spec := t.conv.machine.Spec()
	return st != shape.Auto && supports(t.conv.shape, &spec, st, t.direction) &&
		(t.conv.blocked == [2]bool{} || t.conv.takesBlocks(t.direction, st))
}

// with prepares the direction with a strategy.
func (t *tuned) with(st shape.Strategy) (*Conv, error) {
	c, err := newConv(t.conv.machine, t.conv.shape, &considered{chosen: [3]shape.Strategy{st, st, st}})
	if err != nil {
		return nil, err
	}
	c.blocked, c.thin = t.conv.blocked, t.conv.thin
	return c, c.prepare(t.direction)
}

// makeCandidates prepares every strategy that can compute the direction.
func (t *tuned) makeCandidates() error {
	if t.candidates != nil {
		return nil
	}
	model := t.conv.plan.Strategy[t.direction]
	others := slices.DeleteFunc(slices.Clone(shape.Strategies), func(st shape.Strategy) bool { return st == model || !t.can(st) })
	for _, st := range append([]shape.Strategy{model}, others...) {
		c, err := t.with(st)
		if err != nil {
			return err
		}
		t.candidates = append(t.candidates, c)
	}
	return nil
}

// attempt runs a candidate. The gradient of weights, which is added to what is there, goes to memory of its own.
func (t *tuned) attempt(c *Conv, args convArrays) error {
	if t.direction == shape.WeightGradient {
		if t.weights == nil {
			t.weights = make([]float32, len(args.w))
		}
		args.w = t.weights
	}
	return c.run(t.direction, args)
}

func (t *tuned) warmUp(args convArrays) error {
	t.warm = true
	for _, c := range t.candidates {
		if err := t.attempt(c, args); err != nil {
			return err
		}
	}
	return nil
}

// measure times the candidates in turns and tells the tuner.
func (t *tuned) measure(args convArrays) error {
	took := make([]Timing, len(t.candidates))
	var sum, least time.Duration
	for repeat := 0; repeat < minRepeats || repeat < maxRepeats && sum < enoughTime; repeat++ {
		for i, c := range t.candidates {
			if repeat >= 2 && took[i].Time > hopeless*least {
				continue
			}
			start := t.conv.tuner.Now()
			if err := t.attempt(c, args); err != nil {
				return err
			}
			time := t.conv.tuner.Now().Sub(start)
			sum += time
			if repeat == 0 || time < took[i].Time {
				took[i] = Timing{c.plan.Strategy[t.direction], time}
			}
		}
		least = slices.MinFunc(took, func(a, b Timing) int { return cmp.Compare(a.Time, b.Time) }).Time
	}
	return t.conv.tuner.Measured(t.task(), took)
}
