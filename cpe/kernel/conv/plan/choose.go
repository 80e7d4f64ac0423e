package plan

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// choice is the algorithm chosen for a problem.
type choice struct {
	algorithm *conv.Algorithm
	planar    bool        // its kernel reads a copy of the results by planes
	ledger    *cpe.Ledger // the modelled machine's charges, if several algorithms were compared by these
	second    RunnerUp
}

// RunnerUp is the second-best algorithm with its time on the modelled machine. Its name is empty if there was only one candidate.
type RunnerUp struct {
	Name   string
	Family shape.Strategy
	Time   cpe.VTime
}

// choose returns the choice for a problem: the algorithm that f names, or the best of its family, or the best of all.
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

// within returns the candidate of least cost in a strategy, nil if there is none. Of equal costs it takes the first in the list.
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

// candidates lists the algorithms of a strategy that support a problem and do not decline it, or those that support it if all decline.
func candidates(p *conv.Problem, st shape.Strategy) []*conv.Algorithm {
	able := supporting(p)
	var willing, all []*conv.Algorithm
	for _, a := range able {
		if !includes(st, a) {
			continue
		}
		all = append(all, a)
		if declines(a, p, able) == nil {
			willing = append(willing, a)
		}
	}
	if len(willing) > 0 {
		return willing
	}
	return all
}

// supporting lists the algorithms that support a problem.
func supporting(p *conv.Problem) (able []*conv.Algorithm) {
	for _, a := range algorithms {
		if a.Refuses(p) == nil {
			able = append(able, a)
		}
	}
	return able
}

// declines returns the reason why an algorithm leaves a problem to others, or nil. able lists the algorithms that support the problem.
func declines(a *conv.Algorithm, p *conv.Problem, able []*conv.Algorithm) error {
	if a.Declines != nil {
		if why := a.Declines(p); why != nil {
			return why
		}
	}
	if !a.General {
		return nil
	}
	for _, b := range able {
		if b != a && b.Special && b.Family == a.Family {
			return fmt.Errorf("%s is better suited", b.Name)
		}
	}
	return nil
}

// includes reports whether a strategy permits an algorithm.
func includes(s shape.Strategy, a *conv.Algorithm) bool {
	switch s {
	case shape.Auto:
		return !a.Asked
	case shape.Winograd:
		return a.Family.IsWinograd() || a.Family == shape.Auto
	}
	return a.Family == s || a.Family == shape.Auto
}

// cheapest returns the candidate with the least Cost.
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

// fastest returns the candidate with the least time on the modelled machine. It runs every candidate there without moving values.
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

// modelled returns the charges of an algorithm on the modelled machine.
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
