package plan

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// choice is the algorithm chosen for a problem.
type choice struct {
	*op.Choice[shape.Conv, conv.Kernel]
	planar bool // its kernel reads a copy of the results by planes
}

// asked returns the problem that the choice's kernel solves.
func (c *choice) asked(p *conv.Problem) *conv.Problem {
	if c.planar {
		p, _ = planarProblem(p)
	}
	return p
}

// choose returns the choice for a problem: the algorithm that f names, or the best of its family, or the best of all.
func choose(p *conv.Problem, f op.Force) (*choice, error) {
	if a := algorithms.Find(f.Name); a != nil && a.Refuses(p) == nil {
		return chosen(a), nil
	}
	return turned(p, func(p *conv.Problem) (*op.Choice[shape.Conv, conv.Kernel], error) { return algorithms.Choose(p, f) })
}

// within returns the candidate of least cost in a strategy, nil if there is none.
func within(p *conv.Problem, st shape.Strategy) (*choice, error) {
	return turned(p, func(p *conv.Problem) (*op.Choice[shape.Conv, conv.Kernel], error) { return algorithms.Within(p, st) })
}

// turned returns the choice for a problem, or for the one in planes that may have to be computed in its place.
func turned(p *conv.Problem, choose func(*conv.Problem) (*op.Choice[shape.Conv, conv.Kernel], error)) (*choice, error) {
	asked, turns := planarProblem(p)
	if !turns {
		asked = p
	}
	found, err := choose(asked)
	if found == nil || err != nil {
		return nil, err
	}
	return &choice{found, turns && found.Algorithm.Refuses(p) != nil}, nil
}

// chosen returns the choice of an algorithm without comparing it with others.
func chosen(a *conv.Algorithm) *choice {
	return &choice{Choice: &op.Choice[shape.Conv, conv.Kernel]{Algorithm: a}}
}

// byName returns the choice of a named algorithm, or the reason why the algorithm cannot compute the problem.
func byName(p *conv.Problem, name string) (*choice, error) {
	a, err := FindAlgorithm(name)
	if err != nil {
		return nil, err
	}
	c, why := chosen(a), a.Refuses(p)
	if planes, ok := planarProblem(p); ok && why != nil {
		why, c.planar = a.Refuses(planes), true
	}
	if why != nil {
		return nil, why
	}
	return c, nil
}
