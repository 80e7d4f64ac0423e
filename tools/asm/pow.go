package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// pow is x^p of what is positive and normal, worked out in double precision, so that it errs by little more than its rounding:
// x = 2^k * m with m around 1, log2 m from the series of the inverse hyperbolic tangent, and 2^y as e^(ln 2 * y) of what rounding y leaves.
func (s isa) pow(x, p reg.VecVirtual) reg.VecVirtual {
	u := s.iadd(x, s.bits(0x3f800000-0x3f3504f3))
	k := s.toFloat(s.isub(s.sar(u, 23), s.bits(127)))
	m := s.iadd(s.and(u, s.bits(0x007fffff)), s.bits(0x3f3504f3))
	var ks, ms, ps, halves [2]reg.VecVirtual
	ks[0], ks[1] = s.doubles(k)
	ms[0], ms[1] = s.doubles(m)
	ps[0], ps[1] = s.doubles(p)
	for i := range halves {
		t := s.op(VDIVPD, s.op(VADDPD, s.d(1), ms[i]), s.op(VSUBPD, s.d(1), ms[i]))
		log := s.op(VMULPD, t, s.hornerDoubles(s.op(VMULPD, t, t), func(n int) float64 { return 2 / math.Ln2 / float64(2*n+1) }, 6))
		y := s.op(VMULPD, ps[i], s.op(VADDPD, ks[i], log))
		y = s.op(VMINPD, s.d(200), s.op(VMAXPD, s.d(-200), y)) // floats end at 2^128 and 2^-149
		// Adding 1.5 * 2^52 rounds to a whole number, which stands in the lowest bits.
		whole := s.op(VADDPD, s.d(3<<51), y)
		y = s.op(VMULPD, s.d(math.Ln2), s.op(VSUBPD, s.op(VSUBPD, s.d(3<<51), whole), y))
		factorial := func(n int) float64 { return math.Gamma(float64(n + 1)) }
		power := s.hornerDoubles(y, func(n int) float64 { return 1 / factorial(n) }, 8)
		VPSLLQ(Imm(52), whole, whole)
		VPADDQ(whole, power, power)
		halves[i] = power
	}
	return s.singles(halves)
}

// hornerDoubles evaluates the polynomial with coefficients c(0) to c(n) in double precision.
func (s isa) hornerDoubles(x reg.VecVirtual, c func(n int) float64, n int) reg.VecVirtual {
	r := s.load(s.d(c(n)))
	for i := n - 1; i >= 0; i-- {
		VFMADD213PD(s.d(c(i)), x, r)
	}
	return r
}

// d is a constant vector of the float64 value x.
func (s isa) d(x float64) Mem {
	u := math.Float64bits(x)
	name := fmt.Sprintf("d%d_%016x", s.w, u)
	if m, ok := consts[name]; ok {
		return m
	}
	m := GLOBL(name, attr.RODATA|attr.NOPTR)
	for i := range s.w / 2 {
		DATA(8*i, U64(u))
	}
	consts[name] = m
	return m
}

// singles rounds two vectors of double precision to one.
func (s isa) singles(halves [2]reg.VecVirtual) reg.VecVirtual {
	r := s.v()
	if s.w == 16 {
		lower, upper := YMM(), YMM()
		VCVTPD2PS(halves[0], lower)
		VCVTPD2PS(halves[1], upper)
		VMOVAPS(lower, r.AsY())
		VINSERTF64X4(Imm(1), upper, r, r)
		return r
	}
	lower, upper := XMM(), XMM()
	VCVTPD2PSY(halves[0], lower)
	VCVTPD2PSY(halves[1], upper)
	VMOVAPS(lower, r.AsX())
	VINSERTF128(Imm(1), upper, r, r)
	return r
}
