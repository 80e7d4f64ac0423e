package vec

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// Every emits the copy of every second or fourth value, a vector of them in a turn.
func Every(s emit.ISA, stride int) {
	dst := emit.GP("dst")
	src := emit.GP("src")
	n := emit.GP("n")
	even := evenPlaces(s, fmt.Sprintf("every%d%splaces", stride, s.Tag))
	Label("loop")
	x := make([]reg.VecVirtual, stride)
	for i := range x {
		x[i] = s.Load(Mem{Base: src, Disp: 4 * s.Width * i})
	}
	for ; len(x) > 1; x = x[:len(x)/2] {
		for i := range len(x) / 2 {
			x[i] = even(x[2*i], x[2*i+1])
		}
	}
	VMOVUPS(x[0], Mem{Base: dst})
	ADDQ(U32(4*s.Width*stride), src)
	ADDQ(U32(4*s.Width), dst)
	SUBQ(U32(s.Width), n)
	JNE(LabelRef("loop"))
	s.Ret()
}

// evenPlaces returns a function that takes the even lanes of two vectors; name is that of its constant.
func evenPlaces(s emit.ISA, name string) func(a, b reg.VecVirtual) reg.VecVirtual {
	if s.Width == 8 {
		return func(a, b reg.VecVirtual) reg.VecVirtual {
			r := YMM()
			VSHUFPS(Imm(0x88), b, a, r)
			VPERMPD(Imm(0xd8), r, r)
			return r
		}
	}
	places := GLOBL(name, attr.RODATA|attr.NOPTR)
	for i := range 16 {
		DATA(4*i, U32(2*i))
	}
	index := s.Load(places)
	return func(a, b reg.VecVirtual) reg.VecVirtual {
		VPERMT2PS(b, index, a)
		return a
	}
}
