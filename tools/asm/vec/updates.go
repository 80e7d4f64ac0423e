package vec

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// moved are the vectors of an update: the gradient, which becomes the value that is subtracted from the weights, and the histories.
type moved struct {
	g reg.VecVirtual
	h [2]reg.VecVirtual
}

// coefficients are those of a vec.Step, and values derived from them: corrected is the rate times Correct, more is 1 + momentum, rest 1 - momentum,
// restBeta 1 - beta.
type coefficients struct{ scale, decay, rate, momentum, beta, delta, corrected, more, rest, restBeta reg.VecVirtual }

// SolverRule is a solver's rule. Label is its constant in internal/base/simd/vec; Histories is the number of arrays beside weights and gradients.
type SolverRule struct {
	Name, Label string
	Histories   int
	Body        func(c *coefficients, m *moved)
}

// Rules lists the rules of all solvers.
func Rules(s emit.ISA) []SolverRule {
	return []SolverRule{
		{"sgd", "SGD", 1, func(c *coefficients, m *moved) {
			average(s, m.h[0], c.momentum, m.g, c.rate)
			m.g = m.h[0]
		}},
		{"nesterov", "Nesterov", 1, func(c *coefficients, m *moved) {
			before := s.Load(m.h[0])
			average(s, m.h[0], c.momentum, m.g, c.rate)
			VMULPS(m.h[0], c.more, m.g)
			VFNMADD231PS(c.momentum, before, m.g)
		}},
		{"adaGrad", "AdaGrad", 1, func(c *coefficients, m *moved) {
			VFMADD231PS(m.g, m.g, m.h[0])
			divideByRoot(s, m.g, m.h[0], c.rate, c.delta)
		}},
		{"rmsProp", "RMSProp", 1, func(c *coefficients, m *moved) {
			average(s, m.h[0], c.beta, s.Mul(m.g, m.g), c.restBeta)
			divideByRoot(s, m.g, m.h[0], c.rate, c.delta)
		}},
		{"adaDelta", "AdaDelta", 2, func(c *coefficients, m *moved) {
			average(s, m.h[0], c.momentum, s.Mul(m.g, m.g), c.rest)
			ratio := s.Div(s.Add(m.h[1], c.delta), s.Add(m.h[0], c.delta))
			VSQRTPS(ratio, ratio)
			VMULPS(ratio, m.g, m.g)
			average(s, m.h[1], c.momentum, s.Mul(m.g, m.g), c.rest)
			VMULPS(c.rate, m.g, m.g)
		}},
		{"adam", "Adam", 2, func(c *coefficients, m *moved) {
			square := s.Mul(m.g, m.g)
			average(s, m.h[0], c.momentum, m.g, c.rest)
			average(s, m.h[1], c.beta, square, c.restBeta)
			m.g = s.Load(m.h[0])
			divideByRoot(s, m.g, m.h[1], c.corrected, c.delta)
		}},
	}
}

// average sets h to kept*h + taken*x.
func average(s emit.ISA, h, kept, x, taken reg.VecVirtual) {
	VMULPS(kept, h, h)
	VFMADD231PS(taken, x, h)
}

// divideByRoot sets g to rate * g / (sqrt(h) + delta).
func divideByRoot(s emit.ISA, g, h, rate, delta reg.VecVirtual) {
	root := s.V()
	VSQRTPS(h, root)
	VADDPS(delta, root, root)
	VDIVPS(root, g, g)
	VMULPS(rate, g, g)
}

// Update emits the pass of a rule over weights, gradients and histories. Lines are fetched ahead.
func Update(s emit.ISA, histories int, rule func(c *coefficients, m *moved)) {
	p := s.Scalars("step", 7)
	v := func(i int) reg.VecVirtual { return p[i].(reg.VecVirtual) }
	c := coefficients{scale: v(0), decay: v(1), rate: v(2), momentum: v(3), beta: v(4), delta: v(5)}
	one := s.Load(s.F(1))
	c.corrected = s.Mul(c.rate, p[6])
	c.more, c.rest, c.restBeta = s.Add(one, c.momentum), s.Sub(one, c.momentum), s.Sub(one, c.beta)
	arrays := []reg.Register{emit.GP("weights"), emit.GP("gradients"), emit.GP("h0"), emit.GP("h1")}[:2+histories]
	s.EachVector(func(at reg.GPVirtual) {
		place := func(i int) Mem { return Mem{Base: arrays[i], Index: at, Scale: 4} }
		for i := range arrays {
			line := place(i)
			line.Disp = emit.Ahead
			PREFETCHT0(line)
		}
		var m moved
		w := s.Load(place(0))
		m.g = s.Mul(c.scale, place(1))
		VFMADD231PS(c.decay, w, m.g)
		for i := range histories {
			m.h[i] = s.Load(place(2 + i))
		}
		rule(&c, &m)
		VSUBPS(m.g, w, w)
		VMOVUPS(w, place(0))
		VMOVUPS(m.g, place(1))
		for i := range histories {
			VMOVUPS(m.h[i], place(2+i))
		}
	})
	s.Ret()
}
