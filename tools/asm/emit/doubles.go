package emit

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Doubles converts the halves of a float32 vector to float64.
func (s ISA) Doubles(x reg.VecVirtual) (lo, hi reg.VecVirtual) {
	lo, hi = s.V(), s.V()
	if s.EVEX {
		upper := YMM()
		VEXTRACTF64X4(Imm(1), x, upper)
		VCVTPS2PD(x.AsY(), lo)
		VCVTPS2PD(upper, hi)
		return lo, hi
	}
	upper := XMM()
	if s.Width == 4 {
		VPSHUFD(Imm(0xee), x, upper)
		VCVTPS2PD(x, lo)
		VCVTPS2PD(upper, hi)
		return lo, hi
	}
	VEXTRACTF128(Imm(1), x, upper)
	VCVTPS2PD(x.AsX(), lo)
	VCVTPS2PD(upper, hi)
	return lo, hi
}

// Zeros returns n registers of float64 zeros.
func (s ISA) Zeros(n int) []reg.VecVirtual {
	vs := make([]reg.VecVirtual, n)
	for i := range vs {
		vs[i] = s.V()
		if s.EVEX {
			VPXORQ(vs[i], vs[i], vs[i])
		} else {
			VXORPD(vs[i], vs[i], vs[i])
		}
	}
	return vs
}

// Singles rounds two float64 vectors to one of float32.
func (s ISA) Singles(halves [2]reg.VecVirtual) reg.VecVirtual {
	r := s.V()
	if s.EVEX {
		lower, upper := YMM(), YMM()
		VCVTPD2PS(halves[0], lower)
		VCVTPD2PS(halves[1], upper)
		VMOVAPS(lower, r.AsY())
		VINSERTF64X4(Imm(1), upper, r, r)
		return r
	}
	lower, upper := XMM(), XMM()
	if s.Width == 4 {
		VCVTPD2PSX(halves[0], lower)
		VCVTPD2PSX(halves[1], upper)
		VUNPCKLPD(upper, lower, r)
		return r
	}
	VCVTPD2PSY(halves[0], lower)
	VCVTPD2PSY(halves[1], upper)
	VMOVAPS(lower, r.AsX())
	VINSERTF128(Imm(1), upper, r, r)
	return r
}
