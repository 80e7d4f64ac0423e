package vec

import (
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
	even := s.Evens()
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
