package vec

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// pow is x^p for positive normal x, in float64, so that its error is little more than the last rounding: x = 2^k * m with m around 1, log2 m from
// the series of the inverse hyperbolic tangent, and 2^y = 2^whole * e^(ln 2 * (y - whole)).
func pow(s emit.ISA, x, p reg.VecVirtual) reg.VecVirtual {
	u := s.IAdd(x, s.Bits(0x3f800000-0x3f3504f3))
	k := s.ToFloat(s.ISub(s.Sar(u, 23), s.Bits(127)))
	m := s.IAdd(s.And(u, s.Bits(0x007fffff)), s.Bits(0x3f3504f3))
	var ks, ms, ps, halves [2]reg.VecVirtual
	ks[0], ks[1] = s.Doubles(k)
	ms[0], ms[1] = s.Doubles(m)
	ps[0], ps[1] = s.Doubles(p)
	for i := range halves {
		t := s.Op(VDIVPD, s.Op(VADDPD, s.D(1), ms[i]), s.Op(VSUBPD, s.D(1), ms[i]))
		log := s.Op(VMULPD, t, hornerDoubles(s, s.Op(VMULPD, t, t), func(n int) float64 { return 2 / math.Ln2 / float64(2*n+1) }, 6))
		y := s.Op(VMULPD, ps[i], s.Op(VADDPD, ks[i], log))
		y = s.Op(VMINPD, s.D(200), s.Op(VMAXPD, s.D(-200), y)) // floats end at 2^128 and 2^-149
		// Adding 1.5 * 2^52 rounds to a whole number, which stands in the lowest bits.
		whole := s.Op(VADDPD, s.D(3<<51), y)
		y = s.Op(VMULPD, s.D(math.Ln2), s.Op(VSUBPD, s.Op(VSUBPD, s.D(3<<51), whole), y))
		factorial := func(n int) float64 { return math.Gamma(float64(n + 1)) }
		power := hornerDoubles(s, y, func(n int) float64 { return 1 / factorial(n) }, 8)
		VPSLLQ(Imm(52), whole, whole)
		VPADDQ(whole, power, power)
		halves[i] = power
	}
	return s.Singles(halves)
}

// hornerDoubles evaluates the polynomial with coefficients c(0) to c(n) in float64.
func hornerDoubles(s emit.ISA, x reg.VecVirtual, c func(n int) float64, n int) reg.VecVirtual {
	r := s.Load(s.D(c(n)))
	for i := n - 1; i >= 0; i-- {
		VFMADD213PD(s.D(c(i)), x, r)
	}
	return r
}
