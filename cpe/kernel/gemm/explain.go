package gemm

import (
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/quant"
	"github.com/swcaffe/swcaffe/internal/base/pages"
)

// Explain says which algorithms could compute a product in a Kernel of NewIn, and why one does. If measured is set, it runs them all, for their times.
func Explain(m *cpe.Machine, s Shape, inference bool, t op.Types, scales *quant.Scales, measured bool) (*op.Explanation, error) {
	return explain(&algorithms, m, problemIn(m, s, inference, t, scales), measured)
}

// ExplainBlocked is Explain for NewBlocked.
func ExplainBlocked(m *cpe.Machine, s Shape, measured bool) (*op.Explanation, error) {
	return explain(&blockedAlgorithms, m, problem(m, s, false), measured)
}

func explain(l *op.List[Shape, Kernel], m *cpe.Machine, p *Problem, measured bool) (*op.Explanation, error) {
	c, err := l.Choose(p, op.Force{})
	if err != nil {
		return nil, err
	}
	e := l.ExplainChoice(p, op.Force{}, c.Algorithm)
	k, err := c.Algorithm.Kernel(m, p)
	if err != nil {
		return nil, err
	}
	switch k := k.(type) {
	case *Blocked:
		e.Plan = k.Plan().String()
	case *rounded:
		e.Plan = k.plan()
	}
	if s := p.Shape; measured {
		a, b, c := pages.Ones(s.M*s.K), pages.Ones(s.K*s.N), pages.Ones(s.M*s.N)
		err = l.Measure(m, p, e, func(k Kernel) error { return k.Run(a, b, nil, c) })
	}
	return e, err
}
