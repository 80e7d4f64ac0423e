package plan

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// A measurement runs every candidate minRepeats times, and up to maxRepeats times until all runs together have taken enoughTime. After two
// runs a candidate drops out if it takes hopeless times as long as the fastest. The shortest time counts, because other programs can only
// lengthen a run.
const (
	minRepeats = 4
	maxRepeats = 20
	enoughTime = 100 * time.Millisecond
	hopeless   = 2
)

// NewTuned plans a convolution on the host with a tuner's choices. A direction unknown to the tuner is measured: all candidates warm up in the
// first run and are timed in the second, and the results of both runs are those of the cost model's choice. From the third run on, the tuner's
// choice computes. The layouts are those that suit the cost model's choice; candidates must support them. With op.RoundedFactors algorithms in float32 are candidates
// too.
func NewTuned(m *cpe.Machine, s shape.Conv, types op.Types, t conv.Tuner) (*Conv, error) {
	spec := m.Spec()
	c := &Conv{machine: m, spec: &spec, free: true, types: types, tuner: t}
	return c, c.plan(s)
}

// tuned is a direction whose algorithm a tuner chooses.
type tuned struct {
	conv       *Conv
	problem    conv.Problem
	model      *choice      // the cost model's choice
	candidates []*direction // the cost model's first
	best       *direction   // the tuner's choice, nil while it measures
	weights    []float32    // DW of the candidates while they are measured
	warm       bool         // the candidates have run once
}

// newTuned returns a direction that a tuner chooses, for Conv c.
func newTuned(c *Conv, p conv.Problem) (*direction, error) {
	model, err := c.choose(&p)
	if err != nil {
		return nil, err
	}
	t := &tuned{conv: c, problem: p, model: model}
	return &direction{problem: p, choice: model, tuned: t}, t.settle()
}

// key returns the tuner's key of the problem.
func (t *tuned) key() conv.Key {
	p := &t.problem
	return conv.Key{
		Shape: p.Shape, Direction: p.Direction, ImagesInBlocks: p.Images != shape.Planes, ResultsInBlocks: p.Results != shape.Planes,
		Inference: p.Inference && (conv.Strides(&p.Shape) || p.Types != (op.Types{})), Types: p.Types,
	}
}

// run computes the direction, and measures it if the tuner does not know it. The cost model's choice runs last, so that its results stay.
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

// settle adopts the tuner's choice, if there is one by now: from its file, from this measurement or from that of a layer of the same shape.
func (t *tuned) settle() (err error) {
	name, ok := t.conv.tuner.Choice(t.key())
	if !ok {
		return nil
	}
	for _, c := range t.candidates {
		if c.Algorithm.Name == name {
			t.best = c
		}
	}
	if t.best == nil {
		if t.best, err = t.named(name); err != nil {
			return fmt.Errorf("the tuning file names %s for the %v of %v: %w", name, t.problem.Direction, t.key(), err)
		}
	}
	t.candidates, t.weights = nil, nil
	return nil
}

// named makes a kernel of the named algorithm.
func (t *tuned) named(name string) (*direction, error) {
	c, err := byName(&t.problem, name)
	if err != nil {
		return nil, err
	}
	return t.conv.with(t.problem, c)
}

// makeCandidates makes kernels of the cost model's choice and of the best algorithm of each other family and number type.
func (t *tuned) makeCandidates() error {
	if t.candidates != nil {
		return nil
	}
	choices, plain := []*choice{t.model}, t.problem
	plain.Types = op.Types{}
	for _, st := range []shape.Strategy{shape.Explicit, shape.Implicit, shape.Winograd2, shape.Winograd4, shape.Winograd5} {
		for _, p := range []*conv.Problem{&t.problem, &plain} {
			if st == t.model.Algorithm.Family && p.Types == t.problem.Types {
				continue
			}
			c, err := within(p, st)
			if err != nil {
				return err
			}
			known := func(other *choice) bool { return other.Algorithm == c.Algorithm }
			if c != nil && !slices.ContainsFunc(choices, known) {
				choices = append(choices, c)
			}
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

// attempt runs a candidate. Weight gradients go to memory of their own, because kernels add to DW.
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

// measure times the candidates alternately and reports the times to the tuner.
func (t *tuned) measure(a conv.Arrays) error {
	took := make([]conv.Timing, len(t.candidates))
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
				took[i] = conv.Timing{Algorithm: c.Algorithm.Name, Time: time}
			}
		}
		least = slices.MinFunc(took, func(a, b conv.Timing) int { return cmp.Compare(a.Time, b.Time) }).Time
	}
	return t.conv.tuner.Measured(t.key(), took)
}
