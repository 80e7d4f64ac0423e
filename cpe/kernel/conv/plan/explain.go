package plan

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/conv"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/cpe/kernel/tiling"
	"github.com/swcaffe/swcaffe/internal/base/pages"
)

// Explain compares all algorithms for a problem.
func Explain(p *conv.Problem, f op.Force) (*op.Explanation, error) {
	found, err := choose(p, f)
	if err != nil {
		return nil, err
	}
	return explain(p, f, found.Algorithm), nil
}

// Explain compares all algorithms for a direction. If measured is set, it runs them all, for their times.
func (c *Conv) Explain(d shape.Direction, measured bool) (*op.Explanation, error) {
	p, now := c.problem(d), c.does[d].now()
	e := explain(&p, c.forced[d], now.Algorithm)
	e.Runs = now.name()
	if k, ok := now.kernel.(interface{ Blocking() string }); ok {
		e.Plan = k.Blocking()
	}
	if !measured || now.Algorithm.Empty {
		return e, nil
	}
	return e, c.measure(now.asked(&p), e)
}

// measure enters the times of all algorithms that support a problem.
func (c *Conv) measure(p *conv.Problem, e *op.Explanation) error {
	s := &p.Shape
	a := conv.Arrays{Add: p.Direction == shape.WeightGradient}
	a.W = pages.Ones(s.Out * s.Depth())
	images, results := pages.Ones(s.N*s.C*tiling.Size(s.In)), pages.Ones(s.N*s.Out*tiling.Size(s.OutSize()))
	switch p.Direction {
	case shape.Forward:
		a.X, a.Y, a.Bias = images, results, pages.Ones(s.Out)
	case shape.WeightGradient:
		a.X, a.DY, a.DW = images, results, pages.Ones(len(a.W))
	default:
		a.DX, a.DY = images, results
	}
	if p.Inference {
		a.Fixed = new(op.Weights)
	}
	return algorithms.Measure(c.machine, p, e, func(k conv.Kernel) error { return k.Run(a) })
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
