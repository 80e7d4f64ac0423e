package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// interleave2 emits the copy of values of two rows in turn, a whole vector of each at a time.
func (s isa) interleave2() {
	dst, a, b, n := gp("dst"), gp("a"), gp("b"), gp("n")
	Label("loop")
	lo, hi := s.interleave(s.load(Mem{Base: a}), s.load(Mem{Base: b}))
	VMOVUPS(lo, Mem{Base: dst})
	VMOVUPS(hi, Mem{Base: dst, Disp: 4 * s.w})
	ADDQ(U32(4*s.w), a)
	ADDQ(U32(4*s.w), b)
	ADDQ(U32(8*s.w), dst)
	SUBQ(U32(s.w), n)
	JNE(LabelRef("loop"))
	VZEROUPPER()
	RET()
}
