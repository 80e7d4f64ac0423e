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
	// Winograd2, Winograd4 and Winograd5 multiply in the transform domain, with tiles of 2x2, 4x4 and 5x5 outputs: F(2x2,3x3),
	// F(4x4,3x3), F(4x4,5x5) and F(5x5,3x3). See winogradConv.
	Winograd2
	Winograd4
	Winograd5
	// Winograd is one of these, and only asked for: the one with least work on the host, F(2x2,3x3) as in Fang 2019 on a model.
	Winograd
)

// String returns the name that -strategy takes.
func (s Strategy) String() string {
	return [...]string{"auto", "explicit", "implicit", "winograd2", "winograd4", "winograd5", "winograd"}[s]
}

// tile returns the edge of the tiles of outputs that one of Winograd's strategies computes, 0 for other strategies.
func (s Strategy) tile() int {
	switch s {
	case Winograd2:
		return 2
	case Winograd4:
		return 4
	case Winograd5:
		return 5
	}
	return 0
}

// isWinograd reports whether a strategy is one of Winograd's, with tiles of a known size.
func (s Strategy) isWinograd() bool { return s.tile() > 0 }

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
	case Winograd2, Winograd4, Winograd5:
		inner, ok := s.byWinograd(spec, d)
		return ok && inner.winogradable(st)
	case Winograd:
		return false // but what it stands for may
	case Implicit:
		if spec.Software.Unbuffered && !s.tapShape(spec, d) {
			return false
		}
		return d != InputGradient || s.unitStride() || spec.Native() && (s.thin() || s.depthwise() || s.phased())
	}
	return true
}

// RunnerUp is the best strategy that was not chosen, and how long it would have taken on the modelled machine; Auto: there was no
// choice.
type RunnerUp struct {
	Strategy
	Time cpe.VTime
}

// considered is what choosing strategies found on the way.
type considered struct {
	chosen  [3]Strategy // by Direction
	second  [3]RunnerUp
	ledgers [3]*cpe.Ledger // what a model is charged for a direction, where it was asked
	pairs   [3]tapLists    // by Direction, as far as they were needed
}

// chooseStrategies decides for each direction. A forced strategy is taken wherever it can be; where Winograd's cannot, the choice
// is free.
func chooseStrategies(spec *cpe.Spec, s ConvShape, st Strategy) (*considered, error) {
	found := &considered{}
	for i := range found.chosen {
		var err error
		d := Direction(i)
		if found.chosen[i], err = chooseStrategy(spec, s, st, d, found); err != nil {
			return nil, fmt.Errorf("choosing a strategy for the %v: %w", d, err)
		}
	}
	return found, nil
}

func chooseStrategy(spec *cpe.Spec, s ConvShape, st Strategy, d Direction, found *considered) (Strategy, error) {
	if st == Winograd {
		st = s.eitherWinograd(spec, d)
	}
	switch {
	case st != Auto && s.supports(spec, st, d):
		return st, nil
	case st == Implicit || !s.supports(spec, Implicit, d):
		return Explicit, nil
	case spec.Native():
		return hostStrategy(spec, s, d), nil
	case !s.published(spec, d):
		return Explicit, nil
	}
	return fasterStrategy(spec, s, d, found)
}

// fasterStrategy asks a model's costs. The answer depends on the shape and the machine alone.
func fasterStrategy(spec *cpe.Spec, s ConvShape, d Direction, found *considered) (Strategy, error) {
	strategies := [2]Strategy{Explicit, Implicit}
	var ledgers [2]cpe.Ledger
	for i, st := range strategies {
		var err error
		if ledgers[i], err = modelled(spec, s, st, d, found); err != nil {
			return st, err
		}
	}
	best := 0
	if ledgers[1].Time < ledgers[0].Time {
		best = 1
	}
	found.ledgers[d] = &ledgers[best]
	found.second[d] = RunnerUp{strategies[1-best], ledgers[1-best].Time}
	return strategies[best], nil
}

// modelled charges a direction on a machine that moves no values.
func modelled(spec *cpe.Spec, s ConvShape, st Strategy, d Direction, found *considered) (cpe.Ledger, error) {
	m, err := cpe.New(*spec, cpe.CostOnly)
	if err != nil {
		return cpe.Ledger{}, err
	}
	defer m.Close()
	c := &Conv{shape: s, plan: planConv(spec, s, [3]Strategy{st, st, st}), machine: m, found: &considered{pairs: found.pairs}}
	if err := c.prepare(d); err != nil {
		return cpe.Ledger{}, err
	}
	err = c.run(d, convArrays{})
	found.pairs = c.found.pairs
	return m.Ledger(), err
}
