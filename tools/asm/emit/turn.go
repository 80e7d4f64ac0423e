package emit

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Shuffled takes two quarters of each of two registers; the parameter which has a pair of bits for each, the quarter's number.
func (s ISA) Shuffled(which int, a, b reg.VecVirtual) reg.VecVirtual {
	r := s.V()
	VSHUFF32X4(Imm(uint64(which)), b, a, r)
	return r
}

// Evens returns a function that takes the even lanes of two vectors, and may overwrite the first. With EVEX it needs a register for the numbers of
// the lanes.
func (s ISA) Evens() func(a, b reg.VecVirtual) reg.VecVirtual {
	if !s.EVEX {
		return func(a, b reg.VecVirtual) reg.VecVirtual {
			r := s.V()
			VSHUFPS(Imm(0x88), b, a, r)
			s.swapMiddle(r)
			return r
		}
	}
	lanes := s.Load(s.Ramp(2))
	return func(a, b reg.VecVirtual) reg.VecVirtual {
		VPERMT2PS(b, lanes, a)
		return a
	}
}

// EveryOther returns lanes from, from+2, ... of two vectors.
func (s ISA) EveryOther(a, b reg.VecVirtual, from int) reg.VecVirtual {
	r := s.Load(a)
	if s.EVEX {
		VPERMT2PS(b, s.Load(s.Sequence(from, 2)), r)
		return r
	}
	VSHUFPS(Imm([]uint64{0x88, 0xdd}[from]), b, a, r)
	s.swapMiddle(r)
	return r
}

// swapMiddle swaps the middle quarters of a vector whose halves were shuffled one by one.
func (s ISA) swapMiddle(r reg.VecVirtual) {
	if s.Width > 4 {
		VPERMPD(Imm(0xd8), r, r)
	}
}

// Interleave returns lanes of a and b in turn.
func (s ISA) Interleave(a, b reg.VecVirtual) (lo, hi reg.VecVirtual) {
	if s.EVEX {
		lo, hi = s.Load(a), s.Load(a)
		for half, r := range []reg.VecVirtual{lo, hi} {
			name := fmt.Sprintf("turns%d", half)
			VPERMT2PS(b, s.Load(s.Words(name, func(i int) int { return half*8 + i/2 + i%2*16 })), r)
		}
		return lo, hi
	}
	l, h := s.V(), s.V()
	VUNPCKLPS(b, a, l)
	VUNPCKHPS(b, a, h)
	if s.Width == 4 {
		return l, h
	}
	lo, hi = s.V(), s.V()
	VPERM2F128(Imm(0x20), h, l, lo)
	VPERM2F128(Imm(0x31), h, l, hi)
	return lo, hi
}

// TurnQuarters transposes 4x4 values in every quarter of every four registers.
func (s ISA) TurnQuarters(x []reg.VecVirtual) {
	for i := 0; i < len(x); i += 4 {
		TurnFour([4]reg.VecVirtual(x[i:]), s.V, func(j int, column reg.VecVirtual) { x[i+j] = column })
	}
}

// TurnFour transposes 4x4 values in every quarter of four registers. fresh makes new registers, use gets each column.
func TurnFour(x [4]reg.VecVirtual, fresh func() reg.VecVirtual, use func(j int, column reg.VecVirtual)) {
	var t [4]reg.VecVirtual
	for j := range t {
		t[j] = fresh()
	}
	VUNPCKLPS(x[1], x[0], t[0])
	VUNPCKLPS(x[3], x[2], t[1])
	VUNPCKHPS(x[1], x[0], t[2])
	VUNPCKHPS(x[3], x[2], t[3])
	for j := range 4 {
		r := fresh()
		if j%2 == 0 {
			VUNPCKLPD(t[j/2*2+1], t[j/2*2], r)
		} else {
			VUNPCKHPD(t[j/2*2+1], t[j/2*2], r)
		}
		use(j, r)
	}
}
