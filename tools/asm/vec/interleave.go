package vec

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// Interleave2 emits the copy of values of two rows in turn, a vector of each in a turn of the loop.
func Interleave2(s emit.ISA) {
	dst, a, b, n := emit.GP("dst"), emit.GP("a"), emit.GP("b"), emit.GP("n")
	Label("loop")
	lo, hi := s.Interleave(s.Load(Mem{Base: a}), s.Load(Mem{Base: b}))
	VMOVUPS(lo, Mem{Base: dst})
	VMOVUPS(hi, Mem{Base: dst, Disp: 4 * s.Width})
	ADDQ(U32(4*s.Width), a)
	ADDQ(U32(4*s.Width), b)
	ADDQ(U32(8*s.Width), dst)
	SUBQ(U32(s.Width), n)
	JNE(LabelRef("loop"))
	s.Ret()
}
