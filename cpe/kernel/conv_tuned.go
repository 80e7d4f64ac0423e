package kernel

import (
	"fmt"
	"slices"
	"time"

	"github.com/swcaffe/swcaffe/cpe"
)

// Tuner knows which strategies were found to be fastest on a native machine, and keeps what is found.
type Tuner interface {
	// Choice returns the strategy of a direction of a shape, if it is known.
	Choice(s ConvShape, d Direction) (Strategy, bool)
	// Measured keeps how long the strategies that can compute a direction of a shape took. Choice knows the direction afterwards.
	Measured(s ConvShape, d Direction, took []Timing) error
	// Now is the clock to measure with.
	Now() time.Time
}

// Timing is how long a strategy took.
type Timing struct {
	Strategy Strategy
	Time     time.Duration
}

// A measurement repeats every candidate at least minRepeats times, and up to maxRepeats while all have taken less than
// enoughTime together. The shortest time counts: what else the computer does can only lengthen it.
const (
	minRepeats = 2
	maxRepeats = 10
	enoughTime = 40 * time.Millisecond
)

// NewTunedConv plans a convolution on a native machine with the strategies that a tuner knows. A direction that it does not
// know is computed by the strategy of the cost model in the first two runs, in which all candidates work side by side:
// they warm up in the first and are measured in the second. From the third run on the fastest does the work.
func NewTunedConv(m *cpe.Machine, s ConvShape, t Tuner) (*Conv, error) {
	spec := m.Spec()
	found, err := chooseStrategies(&spec, s, Auto)
	if err != nil {
		return nil, err
	}
	var known []Direction
	var trials [3]*trial
	for i := range found.chosen {
		d := Direction(i)
		st, ok := t.Choice(s, d)
		switch {
		case !ok:
			trials[d] = &trial{tuner: t, direction: d}
		case st == Auto || !s.supports(&spec, st, d):
			return nil, fmt.Errorf("the tuning of %v says %v for the %v, which %[2]v cannot compute", s, st, d)
		default:
			found.chosen[d] = st
			known = append(known, d)
		}
	}
	c, err := newConv(m, s, found, known...)
	if err != nil {
		return nil, err
	}
	c.trials = trials
	for _, t := range trials {
		if t != nil {
			t.conv = c
		}
	}
	return c, nil
}

// trial finds the strategy of one direction of a convolution.
type trial struct {
	conv       *Conv // whose direction it is
	tuner      Tuner
	direction  Direction
	candidates []*Conv // that of the cost model last, so that its results stay
	best       *Conv   // once it is found
	weights    []float32
	warm       bool
}

// run computes the direction, and finds out more about it.
func (t *trial) run(args convArrays) error {
	if err := t.settle(); err != nil {
		return err
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
	return t.candidates[len(t.candidates)-1].run(t.direction, args)
}

// settle takes the tuner's choice, if it has one by now, from these measurements or from those of a layer of the same shape.
func (t *trial) settle() error {
	if t.best != nil {
		return nil
	}
	st, ok := t.tuner.Choice(t.conv.shape, t.direction)
	if !ok {
		return nil
	}
	i := slices.IndexFunc(t.candidates, func(c *Conv) bool { return c.plan.Strategy[t.direction] == st })
	if i >= 0 {
		t.best = t.candidates[i]
	} else if err := t.choose(st); err != nil {
		return err
	}
	t.conv.plan.Strategy[t.direction] = st
	t.candidates, t.weights = nil, nil
	return nil
}

// choose prepares the strategy that another layer's measurements have found.
func (t *trial) choose(st Strategy) (err error) {
	t.best, err = newConv(t.conv.machine, t.conv.shape, &considered{chosen: [3]Strategy{st, st, st}}, t.direction)
	return err
}

// makeCandidates prepares every strategy that can compute the direction.
func (t *trial) makeCandidates() error {
	if t.candidates != nil {
		return nil
	}
	spec := t.conv.machine.Spec()
	model := t.conv.plan.Strategy[t.direction]
	order := slices.DeleteFunc(slices.Clone(strategies), func(st Strategy) bool { return st == Auto || st == model })
	for _, st := range append(order, model) {
		if !t.conv.shape.supports(&spec, st, t.direction) {
			continue
		}
		c, err := newConv(t.conv.machine, t.conv.shape, &considered{chosen: [3]Strategy{st, st, st}}, t.direction)
		if err != nil {
			return err
		}
		t.candidates = append(t.candidates, c)
	}
	return nil
}

// attempt runs a candidate. The gradient of weights, which is added to what is there, goes to memory of its own.
func (t *trial) attempt(c *Conv, args convArrays) error {
	if t.direction == WeightGradient {
		if t.weights == nil {
			t.weights = make([]float32, len(args.w))
		}
		args.w = t.weights
	}
	return c.run(t.direction, args)
}

func (t *trial) warmUp(args convArrays) error {
	t.warm = true
	for _, c := range t.candidates {
		if err := t.attempt(c, args); err != nil {
			return err
		}
	}
	return nil
}

// measure times the candidates in turns and tells the tuner.
func (t *trial) measure(args convArrays) error {
	took := make([]Timing, len(t.candidates))
	var sum time.Duration
	for repeat := 0; repeat < minRepeats || repeat < maxRepeats && sum < enoughTime; repeat++ {
		for i, c := range t.candidates {
			start := t.tuner.Now()
			if err := t.attempt(c, args); err != nil {
				return err
			}
			time := t.tuner.Now().Sub(start)
			sum += time
			if repeat == 0 || time < took[i].Time {
				took[i] = Timing{c.plan.Strategy[t.direction], time}
			}
		}
	}
	return t.tuner.Measured(t.conv.shape, t.direction, took)
}
