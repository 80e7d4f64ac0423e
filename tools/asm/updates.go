package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// moved are the vectors of an update: weights, gradients, which become what is subtracted, and histories.
type moved struct {
	g reg.VecVirtual
	h [2]reg.VecVirtual
}

// coefficients are simd.Step's; the corrected rate; 1 and the momentum; 1 less the momentum, and less beta.
type coefficients struct{ scale, decay, rate, momentum, beta, delta, corrected, more, rest, restBeta reg.VecVirtual }

// rule is a solver's rule: its name in package simd, the number of its histories, and its body.
type rule struct {
	name, label string
	histories   int
	body        func(c *coefficients, m *moved)
}

// rules lists the rules of all solvers.
func (s isa) rules() []rule {
	return []rule{
		{"sgd", "SGD", 1, func(c *coefficients, m *moved) {
			s.average(m.h[0], c.momentum, m.g, c.rate)
			m.g = m.h[0]
		}},
		{"nesterov", "Nesterov", 1, func(c *coefficients, m *moved) {
			before := s.load(m.h[0])
			s.average(m.h[0], c.momentum, m.g, c.rate)
			VMULPS(m.h[0], c.more, m.g)
			VFNMADD231PS(c.momentum, before, m.g)
		}},
		{"adaGrad", "AdaGrad", 1, func(c *coefficients, m *moved) {
			VFMADD231PS(m.g, m.g, m.h[0])
			s.divideByRoot(m.g, m.h[0], c.rate, c.delta)
		}},
		{"rmsProp", "RMSProp", 1, func(c *coefficients, m *moved) {
			s.average(m.h[0], c.beta, s.mul(m.g, m.g), c.restBeta)
			s.divideByRoot(m.g, m.h[0], c.rate, c.delta)
		}},
		{"adaDelta", "AdaDelta", 2, func(c *coefficients, m *moved) {
			s.average(m.h[0], c.momentum, s.mul(m.g, m.g), c.rest)
			ratio := s.div(s.add(m.h[1], c.delta), s.add(m.h[0], c.delta))
			VSQRTPS(ratio, ratio)
			VMULPS(ratio, m.g, m.g)
			s.average(m.h[1], c.momentum, s.mul(m.g, m.g), c.rest)
			VMULPS(c.rate, m.g, m.g)
		}},
		{"adam", "Adam", 2, func(c *coefficients, m *moved) {
			square := s.mul(m.g, m.g)
			s.average(m.h[0], c.momentum, m.g, c.rest)
			s.average(m.h[1], c.beta, square, c.restBeta)
			m.g = s.load(m.h[0])
			s.divideByRoot(m.g, m.h[1], c.corrected, c.delta)
		}},
	}
}

// average sets h to kept*h + taken*x.
func (s isa) average(h, kept, x, taken reg.VecVirtual) {
	VMULPS(kept, h, h)
	VFMADD231PS(taken, x, h)
}

// divideByRoot sets g to rate * g / (sqrt(h) + delta).
func (s isa) divideByRoot(g, h, rate, delta reg.VecVirtual) {
	root := s.v()
	VSQRTPS(h, root)
	VADDPS(delta, root, root)
	VDIVPS(root, g, g)
	VMULPS(rate, g, g)
}

// update emits the pass of a rule over weights, gradients and as many histories. Lines are fetched ahead.
func (s isa) update(histories int, rule func(c *coefficients, m *moved)) {
	p := s.scalars("step", 7)
	v := func(i int) reg.VecVirtual { return p[i].(reg.VecVirtual) }
	c := coefficients{scale: v(0), decay: v(1), rate: v(2), momentum: v(3), beta: v(4), delta: v(5)}
	one := s.load(s.f(1))
	c.corrected = s.mul(c.rate, p[6])
	c.more, c.rest, c.restBeta = s.add(one, c.momentum), s.sub(one, c.momentum), s.sub(one, c.beta)
	arrays := []reg.Register{gp("weights"), gp("gradients"), gp("h0"), gp("h1")}[:2+histories]
	s.eachVector(func(at reg.GPVirtual) {
		place := func(i int) Mem { return Mem{Base: arrays[i], Index: at, Scale: 4} }
		for i := range arrays {
			line := place(i)
			line.Disp = ahead
			PREFETCHT0(line)
		}
		var m moved
		w := s.load(place(0))
		m.g = s.mul(c.scale, place(1))
		VFMADD231PS(c.decay, w, m.g)
		for i := range histories {
			m.h[i] = s.load(place(2 + i))
		}
		rule(&c, &m)
		VSUBPS(m.g, w, w)
		VMOVUPS(w, place(0))
		VMOVUPS(m.g, place(1))
		for i := range histories {
			VMOVUPS(m.h[i], place(2+i))
		}
	})
	s.ret()
}
