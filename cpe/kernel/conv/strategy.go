package conv

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// supports reports whether a strategy can compute a direction of the shape.
func supports(s shape.Conv, spec *cpe.Spec, st shape.Strategy, d shape.Direction) bool {
	switch st {
	case shape.Winograd2, shape.Winograd4, shape.Winograd5:
		inner, ok := byWinograd(s, spec, d)
		return ok && winogradable(&inner, st)
	case shape.Winograd:
		return false // but what it stands for may
	case shape.Implicit:
		if spec.Software.Unbuffered && !tapShape(s, spec, d) {
			return false
		}
		return d != shape.InputGradient || s.UnitStride() || spec.Native() && (thinnable(s) || depthwise(&s) || phased(&s))
	}
	return true
}

// RunnerUp is the best strategy that was not chosen, and how long it would have taken on the modelled machine; Auto: there was no
// choice.
type RunnerUp struct {
	shape.Strategy
	Time cpe.VTime
}

// considered is what choosing strategies found on the way.
type considered struct {
	chosen  [3]shape.Strategy // by Direction
	second  [3]RunnerUp
	ledgers [3]*cpe.Ledger // what a model is charged for a direction, where it was asked
	pairs   [3]tapLists    // by Direction, as far as they were needed
}

// chooseStrategies decides for each direction. A forced strategy is taken wherever it can be; where Winograd's cannot, the choice
// is free.
func chooseStrategies(spec *cpe.Spec, s shape.Conv, st shape.Strategy) (*considered, error) {
	found := &considered{}
	for i := range found.chosen {
		var err error
		d := shape.Direction(i)
		if found.chosen[i], err = chooseStrategy(spec, s, st, d, found); err != nil {
			return nil, fmt.Errorf("choosing a strategy for the %v: %w", d, err)
		}
	}
	return found, nil
}

func chooseStrategy(spec *cpe.Spec, s shape.Conv, st shape.Strategy, d shape.Direction, found *considered) (shape.Strategy, error) {
	if st == shape.Winograd {
		st = eitherWinograd(s, spec, d)
	}
	switch {
	case st != shape.Auto && supports(s, spec, st, d):
		return st, nil
	case st == shape.Implicit || !supports(s, spec, shape.Implicit, d):
		return shape.Explicit, nil
	case spec.Native():
		return hostStrategy(spec, s, d), nil
	case !Published(s, spec, d):
		return shape.Explicit, nil
	}
	return fasterStrategy(spec, s, d, found)
}

// fasterStrategy asks a model's costs. The answer depends on the shape and the machine alone.
func fasterStrategy(spec *cpe.Spec, s shape.Conv, d shape.Direction, found *considered) (shape.Strategy, error) {
	strategies := [2]shape.Strategy{shape.Explicit, shape.Implicit}
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
func modelled(spec *cpe.Spec, s shape.Conv, st shape.Strategy, d shape.Direction, found *considered) (cpe.Ledger, error) {
	m, err := cpe.New(*spec, cpe.CostOnly)
	if err != nil {
		return cpe.Ledger{}, err
	}
	defer m.Close()
	c := &Conv{shape: s, plan: planConv(spec, s, [3]shape.Strategy{st, st, st}), machine: m, found: &considered{pairs: found.pairs}}
	if err := c.prepare(d); err != nil {
		return cpe.Ledger{}, err
	}
	err = c.run(d, convArrays{})
	found.pairs = c.found.pairs
	return m.Ledger(), err
}
