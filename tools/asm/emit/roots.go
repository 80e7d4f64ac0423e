package emit

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// InvPow75 is x^-0.75. Without EVEX it takes roots and divides. With EVEX it makes r = x^-0.5, which it returns too, and q = r^-0.5. Each is an
// approximation to 14 bits and a step of Newton's method. The result is r*q*r, several times as fast. Where a step gives 0*inf, the first
// approximation is the result: inf for 0, 0 for inf, NaN for negative values.
func (s ISA) InvPow75(x reg.VecVirtual) (p, r reg.VecVirtual) {
	if !s.EVEX {
		h, q := s.V(), s.V()
		VSQRTPS(x, h)
		VSQRTPS(h, q)
		return s.Div(s.Load(s.F(1)), s.Mul(h, q)), nil
	}
	half := s.Load(s.F(0.5))
	root := func(x reg.VecVirtual) (first, refined reg.VecVirtual) {
		first = s.V()
		VRSQRT14PS(x, first)
		rest := s.Fnma(s.Mul(x, first), s.Mul(first, half), half)
		return first, s.Fma(first, rest, first)
	}
	first, r := root(x)
	_, q := root(r)
	p, special := s.Mul(s.Mul(r, q), r), K()
	VCMPPS(Imm(Unord), p, p, special)
	VMOVAPS(first, special, p)
	VMOVAPS(first, special, r)
	return p, r
}
