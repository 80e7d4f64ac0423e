package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	ln2hi = 0.693359375
	ln2lo = -2.12194440e-4
)

// reduce splits x into n*ln 2 + r with |r| <= ln 2 / 2.
func (s isa) reduce(x reg.VecVirtual) (n, r reg.VecVirtual) {
	n = s.round(s.mul(x, s.f(math.Log2E)))
	r = s.fnma(n, s.f(ln2hi), x)
	VFNMADD231PS(s.f(ln2lo), n, r)
	return n, r
}

// expm1Poly returns e^r - 1 for a reduced argument.
func (s isa) expm1Poly(r reg.VecVirtual) reg.VecVirtual {
	p := s.horner(r, 1.0/5040, 1.0/720, 1.0/120, 1.0/24, 1.0/6, 0.5)
	return s.fma(p, s.mul(r, r), r)
}

// pow2 returns 2^n for an integer vector n in -126..127.
func (s isa) pow2(n reg.VecVirtual) reg.VecVirtual {
	return s.shl(s.iadd(n, s.bits(127)), 23)
}

// exp clamps x (NaN passes), and multiplies by 2^n in two halves so that
// subnormal and infinite results come out rounded once.
func (s isa) exp(x reg.VecVirtual) reg.VecVirtual {
	x = s.min(s.load(s.f(90)), x)
	x = s.max(s.load(s.f(-110)), x)
	n, r := s.reduce(x)
	p := s.add(s.expm1Poly(r), s.f(1))
	k := s.toInt(n)
	half := s.sar(k, 1)
	return s.mul(s.mul(p, s.pow2(half)), s.pow2(s.isub(k, half)))
}

// log is the musl logf kernel on vectors.
func (s isa) log(x reg.VecVirtual) reg.VecVirtual {
	tiny := s.f(0x1p-126)
	m := s.sel(cmpLT, x, tiny, s.mul(x, s.f(0x1p23)), x)
	bias := s.sel(cmpLT, x, tiny, s.load(s.f(-23)), s.load(s.f(0)))
	u := s.iadd(m, s.bits(0x3f800000-0x3f3504f3))
	k := s.add(s.toFloat(s.isub(s.sar(u, 23), s.bits(127))), bias)
	f := s.sub(s.iadd(s.and(u, s.bits(0x007fffff)), s.bits(0x3f3504f3)), s.f(1))
	q := s.div(f, s.add(f, s.f(2)))
	z := s.mul(q, q)
	w := s.mul(z, z)
	t1 := s.mul(w, s.horner(w, 0.24279078841, 0.40000972152))
	t2 := s.mul(z, s.horner(w, 0.28498786688, 0.66666662693))
	h := s.mul(s.mul(f, f), s.f(0.5))
	v := s.mul(q, s.add(s.add(t1, t2), h))
	VFMADD231PS(s.f(9.0580006145e-06), k, v)
	v = s.add(s.sub(v, h), f)
	VFMADD231PS(s.f(6.9313812256e-01), k, v)
	v = s.sel(cmpLT, x, s.f(0), s.load(s.bits(0x7fc00000)), v)
	v = s.sel(cmpEQ, x, s.f(0), s.load(s.bits(0xff800000)), v)
	v = s.sel(cmpEQ, x, s.bits(0x7f800000), x, v)
	return s.sel(cmpUnord, x, x, x, v)
}

// sigmoid evaluates through e^-|x| so that neither side overflows.
func (s isa) sigmoid(x reg.VecVirtual) reg.VecVirtual {
	e := s.exp(s.or(x, s.bits(0x80000000)))
	num := s.sel(cmpLT, x, s.f(0), e, s.load(s.f(1)))
	return s.div(num, s.add(e, s.f(1)))
}

// tanh is -m/(m+2) with m = expm1(-2|x|), with the sign of x.
func (s isa) tanh(x reg.VecVirtual) reg.VecVirtual {
	a := s.and(x, s.bits(0x7fffffff))
	a = s.min(s.load(s.f(20)), a)
	n, r := s.reduce(s.mul(a, s.f(-2)))
	p := s.expm1Poly(r)
	scale := s.pow2(s.toInt(n))
	m := s.fma(p, scale, s.sub(scale, s.f(1)))
	q := s.div(m, s.add(m, s.f(2)))
	q = s.and(q, s.bits(0x7fffffff))
	return s.or(q, s.and(x, s.bits(0x80000000)))
}

// transcendental lists the operations that are series or roots.
func (s isa) transcendental() []operation {
	one := func(f func(reg.VecVirtual) reg.VecVirtual) func(lane) reg.VecVirtual {
		return func(l lane) reg.VecVirtual { return f(l.x) }
	}
	root := func(x reg.VecVirtual) reg.VecVirtual { r := s.v(); VSQRTPS(x, r); return r }
	return []operation{
		{"exp", "x", 2, one(s.exp)},
		{"log", "x", 1, one(s.log)},
		{"sigmoid", "x", 1, one(s.sigmoid)},
		{"tanh", "x", 1, one(s.tanh)},
		{"pow25", "x", 1, func(l lane) reg.VecVirtual { return root(root(l.x)) }},
		{"pow75", "x", 1, func(l lane) reg.VecVirtual {
			h := root(l.x)
			return s.mul(h, root(h))
		}},
		{"mulInvPow75", "xy", 2, func(l lane) reg.VecVirtual { p, _ := s.invPow75(l.y); return s.mul(l.x, p) }},
		{"pow", "xs", 1, func(l lane) reg.VecVirtual { return s.pow(l.x, l.s) }},
		{"inverse", "x", 1, func(l lane) reg.VecVirtual { return s.div(s.load(s.f(1)), l.x) }},
	}
}

// invPow75 is x^-0.75. With 16 lanes r = x^-0.5, which is returned too, and q = r^-0.5 come from approximations to 14 bits and a
// step of Newton's method each, which is several times as fast as roots and a division; the product is r*q*r. Where a step meets
// 0*inf, the first approximation is the result itself: inf of 0, 0 of inf, NaN of what is negative.
func (s isa) invPow75(x reg.VecVirtual) (p, r reg.VecVirtual) {
	if s.w != 16 {
		h, q := s.v(), s.v()
		VSQRTPS(x, h)
		VSQRTPS(h, q)
		return s.div(s.load(s.f(1)), s.mul(h, q)), nil
	}
	half := s.load(s.f(0.5))
	root := func(x reg.VecVirtual) (first, refined reg.VecVirtual) {
		first = s.v()
		VRSQRT14PS(x, first)
		rest := s.fnma(s.mul(x, first), s.mul(first, half), half)
		return first, s.fma(first, rest, first)
	}
	first, r := root(x)
	_, q := root(r)
	p, special := s.mul(s.mul(r, q), r), K()
	VCMPPS(Imm(cmpUnord), p, p, special)
	VMOVAPS(first, special, p)
	VMOVAPS(first, special, r)
	return p, r
}
