package conv

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// choice is the algorithm for a problem.
type choice struct {
	algorithm *Algorithm
	planar    bool        // its kernel reads a copy of the results by planes
	ledger    *cpe.Ledger // what a model is charged, where it was asked
	second    RunnerUp
}

// RunnerUp is the best algorithm that was not chosen, and how long it would have taken on the modelled machine. Its name is empty if there was
// no choice.
type RunnerUp struct {
	Name   string
	Family shape.Strategy
	Time   cpe.VTime
}

// choose returns the algorithm for a problem: the one that is asked for by its name, or the best of a family, or of all.
func choose(p *Problem, f Force) (*choice, error) {
	if f.Name != "" {
		if c, why := byName(p, f.Name); why == nil {
			return c, nil
		}
	}
	c, err := within(p, f.Family)
	if c == nil && err == nil && f.Family != shape.Auto {
		c, err = within(p, shape.Auto)
	}
	if c == nil && err == nil {
		err = fmt.Errorf("no algorithm for the %v", p)
	}
	return c, err
}

// within returns the algorithm of least cost among those of a strategy that can compute a problem, nil if there is none. Those that decline
// count only if all do. The first of the list is taken where several cost the same.
func within(p *Problem, st shape.Strategy) (*choice, error) {
	if planes, ok := p.byPlanes(); ok {
		c, err := within(planes, st)
		if c != nil && c.algorithm.refuses(p) != nil {
			c.planar = true
		}
		return c, err
	}
	switch list := candidates(p, st); {
	case len(list) == 0:
		return nil, nil
	case len(list) == 1:
		return &choice{algorithm: list[0]}, nil
	case p.native():
		return cheapest(p, list), nil
	default:
		return fastest(p, list)
	}
}

// candidates lists the algorithms of a strategy that can compute a problem: those that do not decline, or all if all do.
func candidates(p *Problem, st shape.Strategy) []*Algorithm {
	var willing, all []*Algorithm
	for _, a := range algorithms {
		if !includes(st, a) || a.refuses(p) != nil {
			continue
		}
		all = append(all, a)
		if declines(a, p) == nil {
			willing = append(willing, a)
		}
	}
	if len(willing) > 0 {
		return willing
	}
	return all
}

// declines returns the reason why an algorithm leaves a problem to others, or nil.
func declines(a *Algorithm, p *Problem) error {
	if a.Declines != nil {
		if why := a.Declines(p); why != nil {
			return why
		}
	}
	if !a.General {
		return nil
	}
	for _, b := range algorithms {
		if b != a && b.Special && b.Family == a.Family && b.refuses(p) == nil {
			return fmt.Errorf("%s is better suited", b.Name)
		}
	}
	return nil
}

// includes reports whether an algorithm is among those that a strategy leaves to choose from.
func includes(s shape.Strategy, a *Algorithm) bool {
	switch s {
	case shape.Auto:
		return !a.Asked
	case shape.Winograd:
		return a.Family.IsWinograd() || a.Family == shape.Auto
	}
	return a.Family == s || a.Family == shape.Auto
}

// cheapest compares estimates.
func cheapest(p *Problem, list []*Algorithm) *choice {
	best := list[0]
	least := best.Cost(p)
	for _, a := range list[1:] {
		if cost := a.Cost(p); cost < least {
			best, least = a, cost
		}
	}
	return &choice{algorithm: best}
}

// fastest charges every algorithm on a modelled machine that moves no values. The answer depends on the problem alone.
func fastest(p *Problem, list []*Algorithm) (*choice, error) {
	best, second := &choice{}, cpe.Ledger{}
	for _, a := range list {
		l, err := modelled(a, p)
		if err != nil {
			return nil, err
		}
		if best.ledger == nil || l.Time < best.ledger.Time {
			if best.ledger != nil {
				best.second, second = RunnerUp{best.algorithm.Name, best.algorithm.Family, best.ledger.Time}, *best.ledger
			}
			best.algorithm, best.ledger = a, &l
		} else if best.second.Name == "" || l.Time < second.Time {
			best.second, second = RunnerUp{a.Name, a.Family, l.Time}, l
		}
	}
	return best, nil
}

// modelled charges an algorithm.
func modelled(a *Algorithm, p *Problem) (cpe.Ledger, error) {
	m, err := cpe.New(*p.Spec, cpe.CostOnly)
	if err != nil {
		return cpe.Ledger{}, err
	}
	defer m.Close()
	k, err := a.Kernel(m, p)
	if err != nil {
		return cpe.Ledger{}, err
	}
	err = k.Run(Arrays{})
	return m.Ledger(), err
}
