package pool

import (
	"github.com/swcaffe/swcaffe/cpe/kernel/op"
	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/base/pages"
)

// Explain says which algorithms could compute a direction, and why one does. If measured is set, it runs them all, for their times.
func (p *Kernel) Explain(d shape.Direction, measured bool) (*op.Explanation, error) {
	asked := p.problem(d)
	e, err := algorithms.Explain(asked, op.Force{})
	if err != nil {
		return nil, err
	}
	if p.machine.HasDMA() {
		e.Plan = p.plan.String()
	}
	if measured {
		err = p.measure(asked, e)
	}
	return e, err
}

// measure enters the times of all algorithms in an explanation.
func (p *Kernel) measure(asked *Problem, e *op.Explanation) error {
	s, kernels := &p.shape, map[*way]*Kernel{}
	x, y := pages.Make[float32](s.N*s.C*s.H*s.W), pages.Make[float32](s.N*s.C*s.OH*s.OW)
	mask := pages.Make[int32](s.N * s.C * s.OH * s.OW)
	return algorithms.Measure(p.machine, asked, e, func(w *way) error {
		k := kernels[w]
		if k == nil {
			k = &Kernel{shape: *s, plan: p.plan, machine: p.machine, forward: computed{way: w}, grad: computed{way: w}}
			if err := w.prepare(k); err != nil {
				return err
			}
			kernels[w] = k
		}
		if asked.Direction == shape.Forward {
			return k.Forward(x, y, mask, 1)
		}
		return k.Backward(y, mask, x)
	})
}
