package plan

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// choice is the algorithm for a problem.
type choice struct {
	algorithm *conv.Algorithm
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
func choose(p *conv.Problem, f Force) (*choice, error) {
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
func within(p *conv.Problem, st shape.Strategy) (*choice, error) {
	if planes, ok := planarProblem(p); ok {
		c, err := within(planes, st)
		if c != nil && c.algorithm.Refuses(p) != nil {
			c.planar = true
		}
		return c, err
	}
	switch list := candidates(p, st); {
	case len(list) == 0:
		return nil, nil
	case len(list) == 1:
		return &choice{algorithm: list[0]}, nil
	case p.Native():
		return cheapest(p, list), nil
	default:
		return fastest(p, list)
	}
}

// candidates lists the algorithms of a strategy that can compute a problem: those that do not decline, or all if all do.
func candidates(p *conv.Problem, st shape.Strategy) []*conv.Algorithm {
	var willing, all []*conv.Algorithm
	for _, a := range algorithms {
		if !includes(st, a) || a.Refuses(p) != nil {
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
func declines(a *conv.Algorithm, p *conv.Problem) error {
	if a.Declines != nil {
		if why := a.Declines(p); why != nil {
			return why
		}
	}
	if !a.General {
		return nil
	}
	for _, b := range algorithms {
		if b != a && b.Special && b.Family == a.Family && b.Refuses(p) == nil {
			return fmt.Errorf("%s is better suited", b.Name)
		}
	}
	return nil
}

// includes reports whether an algorithm is among those that a strategy leaves to choose from.
func includes(s shape.Strategy, a *conv.Algorithm) bool {
	switch s {
	case shape.Auto:
		return !a.Asked
	case shape.Winograd:
		return a.Family.IsWinograd() || a.Family == shape.Auto
	}
	return a.Family == s || a.Family == shape.Auto
}

// cheapest compares estimates.
func cheapest(p *conv.Problem, list []*conv.Algorithm) *choice {
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
func fastest(p *conv.Problem, list []*conv.Algorithm) (*choice, error) {
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
func modelled(a *conv.Algorithm, p *conv.Problem) (cpe.Ledger, error) {
	m, err := cpe.New(*p.Spec, cpe.CostOnly)
	if err != nil {
		return cpe.Ledger{}, err
	}
	defer m.Close()
	k, err := a.Kernel(m, p)
	if err != nil {
		return cpe.Ledger{}, err
	}
	err = k.Run(conv.Arrays{})
	return m.Ledger(), err
}
