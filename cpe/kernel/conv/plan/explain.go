package plan

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
)

// Explain compares all algorithms for a problem.
func Explain(p *conv.Problem, f op.Force) (*op.Explanation, error) {
	found, err := choose(p, f)
	if err != nil {
		return nil, err
	}
	return explain(p, f, found.Algorithm), nil
}

// Explain compares all algorithms for a direction, with the times measured by the tuner.
func (c *Conv) Explain(d shape.Direction) *op.Explanation {
	p, now := c.problem(d), c.does[d].now()
	e := explain(&p, c.forced[d], now.Algorithm)
	e.Runs = now.name()
	if k, ok := now.kernel.(interface{ Blocking() string }); ok {
		e.Plan = k.Blocking()
	}
	if c.tuner == nil {
		return e
	}
	for _, t := range c.tuner.Timings(c.does[d].tuned.key()) {
		for i := range e.Algorithms {
			if w := &e.Algorithms[i]; w.Name == t.Algorithm {
				w.Measured = t.Time
			}
		}
	}
	return e
}

// explain compares all algorithms, one of which was chosen.
func explain(p *conv.Problem, f op.Force, chosen *conv.Algorithm) *op.Explanation {
	asked := p
	if planes, ok := planarProblem(p); ok {
		asked = planes
	}
	e := algorithms.ExplainChoice(asked, f, chosen)
	e.Problem = p.String()
	return e
}
