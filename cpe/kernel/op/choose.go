package op

import (
	"fmt"

	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// List holds the algorithms of an operation. Of several that cost the same, or have no costs, the first is chosen.
type List[S Shape, K any] struct {
	// Algorithms are all of them.
	Algorithms []*Algorithm[S, K]
	// Charge runs a kernel without values, on a modelled machine that only counts costs.
	Charge func(k K) error
}

// Choice is the algorithm chosen for a problem.
type Choice[S Shape, K any] struct {
	Algorithm *Algorithm[S, K]
	Ledger    *cpe.Ledger // the modelled machine's charges, if several algorithms were compared by these
	Second    RunnerUp
}

// RunnerUp is the second-best algorithm with its time on the modelled machine. Its name is empty if there was only one candidate.
type RunnerUp struct {
	Name   string
	Family shape.Strategy
	Time   cpe.VTime
}

// Force is a user's restriction of the choice: to one algorithm by its name, or to a family. The zero value restricts nothing. If the named
// algorithm cannot compute a direction, Family applies. If no algorithm of the family can, the choice is free.
type Force struct {
	Family shape.Strategy
	Name   string // an algorithm's name, or ""
}

// String returns the value of -strategy.
func (f Force) String() string {
	if f.Name != "" {
		return f.Name
	}
	return f.Family.String()
}

// Find returns the algorithm of a name, nil if the list has none.
func (l *List[S, K]) Find(name string) *Algorithm[S, K] {
	for _, a := range l.Algorithms {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// Choose returns the choice for a problem: the algorithm that f names, or the best of its family, or the best of all.
func (l *List[S, K]) Choose(p *Problem[S], f Force) (*Choice[S, K], error) {
	if a := l.Find(f.Name); a != nil && a.Refuses(p) == nil {
		return &Choice[S, K]{Algorithm: a}, nil
	}
	c, err := l.Within(p, f.Family)
	if c == nil && err == nil && f.Family != shape.Auto {
		c, err = l.Within(p, shape.Auto)
	}
	if c == nil && err == nil {
		err = fmt.Errorf("no algorithm for the %v", p)
	}
	return c, err
}

// Within returns the candidate of least cost in a strategy, nil if there is none.
func (l *List[S, K]) Within(p *Problem[S], st shape.Strategy) (*Choice[S, K], error) {
	switch list := l.candidates(p, st); {
	case len(list) == 0:
		return nil, nil
	case len(list) == 1 || list[0].Cost == nil:
		return &Choice[S, K]{Algorithm: list[0]}, nil
	case p.Native():
		return &Choice[S, K]{Algorithm: cheapest(p, list)}, nil
	default:
		return l.fastest(p, list)
	}
}

// candidates lists the algorithms of a strategy that support a problem and do not decline it, or those that support it if all decline.
func (l *List[S, K]) candidates(p *Problem[S], st shape.Strategy) []*Algorithm[S, K] {
	able := l.supporting(p)
	var willing, all []*Algorithm[S, K]
	for _, a := range able {
		if !a.in(st) {
			continue
		}
		all = append(all, a)
		if a.declines(p, able) == nil {
			willing = append(willing, a)
		}
	}
	if len(willing) > 0 {
		return willing
	}
	return all
}

// supporting lists the algorithms that support a problem.
func (l *List[S, K]) supporting(p *Problem[S]) (able []*Algorithm[S, K]) {
	for _, a := range l.Algorithms {
		if a.Refuses(p) == nil {
			able = append(able, a)
		}
	}
	return able
}

// declines returns the reason why an algorithm leaves a problem to others, or nil. able lists the algorithms that support the problem.
func (a *Algorithm[S, K]) declines(p *Problem[S], able []*Algorithm[S, K]) error {
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

// in reports whether a strategy permits an algorithm.
func (a *Algorithm[S, K]) in(s shape.Strategy) bool {
	switch s {
	case shape.Auto:
		return !a.Asked
	case shape.Winograd:
		return a.Family.IsWinograd() || a.Family == shape.Auto
	}
	return a.Family == s || a.Family == shape.Auto
}

// cheapest returns the candidate with the least Cost.
func cheapest[S Shape, K any](p *Problem[S], list []*Algorithm[S, K]) *Algorithm[S, K] {
	best := list[0]
	least := best.Cost(p)
	for _, a := range list[1:] {
		if cost := a.Cost(p); cost < least {
			best, least = a, cost
		}
	}
	return best
}

// fastest returns the candidate with the least time on the modelled machine. It runs every candidate there without moving values.
func (l *List[S, K]) fastest(p *Problem[S], list []*Algorithm[S, K]) (*Choice[S, K], error) {
	best, second := &Choice[S, K]{}, cpe.Ledger{}
	for _, a := range list {
		charged, err := l.modelled(a, p)
		if err != nil {
			return nil, err
		}
		if best.Ledger == nil || charged.Time < best.Ledger.Time {
			if best.Ledger != nil {
				best.Second, second = RunnerUp{best.Algorithm.Name, best.Algorithm.Family, best.Ledger.Time}, *best.Ledger
			}
			best.Algorithm, best.Ledger = a, &charged
		} else if best.Second.Name == "" || charged.Time < second.Time {
			best.Second, second = RunnerUp{a.Name, a.Family, charged.Time}, charged
		}
	}
	return best, nil
}

// modelled returns the charges of an algorithm on the modelled machine.
func (l *List[S, K]) modelled(a *Algorithm[S, K], p *Problem[S]) (cpe.Ledger, error) {
	m, err := cpe.New(*p.Spec, cpe.CostOnly)
	if err != nil {
		return cpe.Ledger{}, err
	}
	defer m.Close()
	k, err := a.Kernel(m, p)
	if err != nil {
		return cpe.Ledger{}, err
	}
	err = l.Charge(k)
	return m.Ledger(), err
}
