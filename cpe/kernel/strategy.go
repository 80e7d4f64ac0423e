package kernel

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
)

// Strategy is a way to convolve.
type Strategy int

const (
	// Auto leaves the choice, direction by direction, to the machine's cost model.
	Auto Strategy = iota
	// Explicit writes the column matrix of a band of outputs (im2col) and multiplies.
	Explicit
	// Implicit multiplies with the column matrix of the whole batch as a view, which is gathered block by block.
	Implicit
	// Winograd2 and Winograd4 multiply 3x3 kernels in the transform domain, F(2x2,3x3) and F(4x4,3x3): see winogradConv.
	Winograd2
	Winograd4
)

// String returns the name that -strategy takes.
func (s Strategy) String() string {
	return [...]string{"auto", "explicit", "implicit", "winograd2", "winograd4"}[s]
}

// Direction is what a convolution computes.
type Direction int

const (
	Forward Direction = iota
	WeightGradient
	InputGradient
)

// String returns the direction's name.
func (d Direction) String() string {
	return [...]string{"forward", "weight gradient", "input gradient"}[d]
}

// supports reports whether a strategy can compute a direction of the shape.
func (s ConvShape) supports(spec *cpe.Spec, st Strategy, d Direction) bool {
	switch st {
	case Winograd2, Winograd4:
		return s.winogradable()
	case Implicit:
		if spec.Software.Unbuffered && !s.tapShape(spec, d) {
			return false
		}
		return d != InputGradient || s.unitStride() || spec.Native() && s.spreads()
	}
	return true
}

// RunnerUp is the best strategy that was not chosen, and how long it would have taken on the modelled machine; Auto: there was no
// choice.
type RunnerUp struct {
	Strategy
	Time cpe.VTime
}

// chooseStrategies decides for each direction. A forced strategy is taken wherever it can be; where Winograd's cannot, the choice
// is free. pairs keeps what a model's kernels found on the way.
func chooseStrategies(spec *cpe.Spec, s ConvShape, st Strategy, pairs *[3]tapLists) (chosen [3]Strategy, second [3]RunnerUp, err error) {
	for i := range chosen {
		d := Direction(i)
		if chosen[i], second[i], err = chooseStrategy(spec, s, st, d, pairs); err != nil {
			return chosen, second, fmt.Errorf("choosing a strategy for the %v: %w", d, err)
		}
	}
	return chosen, second, nil
}

func chooseStrategy(spec *cpe.Spec, s ConvShape, st Strategy, d Direction, pairs *[3]tapLists) (Strategy, RunnerUp, error) {
	switch {
	case st != Auto && s.supports(spec, st, d):
		return st, RunnerUp{}, nil
	case st == Implicit || !s.supports(spec, Implicit, d):
		return Explicit, RunnerUp{}, nil
	case spec.Native():
		return hostStrategy(spec, s, d), RunnerUp{}, nil
	case !s.published(spec, d):
		return Explicit, RunnerUp{}, nil
	}
	return fasterStrategy(spec, s, d, pairs)
}

// fasterStrategy asks a model's costs. The answer depends on the shape and the machine alone.
func fasterStrategy(spec *cpe.Spec, s ConvShape, d Direction, pairs *[3]tapLists) (Strategy, RunnerUp, error) {
	explicit, err := modelledTime(spec, s, Explicit, d, pairs)
	if err != nil {
		return Explicit, RunnerUp{}, err
	}
	implicit, err := modelledTime(spec, s, Implicit, d, pairs)
	if err != nil {
		return Explicit, RunnerUp{}, err
	}
	if implicit < explicit {
		return Implicit, RunnerUp{Explicit, explicit}, nil
	}
	return Explicit, RunnerUp{Implicit, implicit}, nil
}

// modelledTime charges a direction on a machine that moves no values.
func modelledTime(spec *cpe.Spec, s ConvShape, st Strategy, d Direction, pairs *[3]tapLists) (cpe.VTime, error) {
	m, err := cpe.New(*spec, cpe.CostOnly)
	if err != nil {
		return 0, err
	}
	defer m.Close()
	c := &Conv{shape: s, plan: planConv(spec, s, [3]Strategy{st, st, st}), machine: m, pairs: pairs}
	if err := c.prepare(d); err != nil {
		return 0, err
	}
	err = c.run(d, convArrays{})
	return m.Ledger().Time, err
}
