package vgemm

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// PackA emits the transposition of a full panel of mr rows, four columns at a
// time; k is a multiple of four.
func PackA(s emit.ISA) {
	const mr = 6
	dst := emit.GP("dst")
	src := emit.GP("src")
	ld := emit.GP("ld")
	k := emit.GP("k")
	SHLQ(Imm(2), ld)
	Label("loop")
	CMPQ(k, U32(4))
	JLT(LabelRef("done"))
	row := GP64()
	MOVQ(src, row)
	read := func() reg.VecVirtual {
		x := XMM()
		VMOVUPS(Mem{Base: row}, x)
		ADDQ(ld, row)
		return x
	}
	i := 0
	for ; i+4 <= mr; i += 4 {
		emit.TurnFour([4]reg.VecVirtual{read(), read(), read(), read()}, XMM, func(j int, column reg.VecVirtual) {
			VMOVUPS(column, Mem{Base: dst, Disp: 4 * (j*mr + i)})
		})
	}
	if i < mr {
		x := [2]reg.VecVirtual{read(), read()}
		lo, hi := XMM(), XMM()
		VUNPCKLPS(x[1], x[0], lo)
		VUNPCKHPS(x[1], x[0], hi)
		VMOVLPS(lo, Mem{Base: dst, Disp: 4 * i})
		VMOVHPS(lo, Mem{Base: dst, Disp: 4 * (mr + i)})
		VMOVLPS(hi, Mem{Base: dst, Disp: 4 * (2*mr + i)})
		VMOVHPS(hi, Mem{Base: dst, Disp: 4 * (3*mr + i)})
	}
	ADDQ(Imm(16), src)
	ADDQ(U32(16*mr), dst)
	SUBQ(Imm(4), k)
	JMP(LabelRef("loop"))
	Label("done")
	RET()
}

// rowsAhead is the number of rows at which PackB fetches its source ahead; the rows are too short for the hardware prefetcher.
const rowsAhead = 4

// PackB emits the copy of k rows of whole panels of two vectors.
func PackB(s emit.ISA) {
	dst := emit.GP("dst")
	src := emit.GP("src")
	ld := emit.GP("ld")
	k := emit.GP("k")
	panels := emit.GP("panels")
	SHLQ(Imm(2), ld)
	each := GP64()
	MOVQ(k, each)
	IMUL3Q(U32(8*s.Width), each, each)
	ahead := GP64()
	MOVQ(ld, ahead)
	IMUL3Q(U32(rowsAhead), ahead, ahead)
	Label("row")
	CMPQ(k, U32(1))
	JLT(LabelRef("done"))
	from, to, left := GP64(), GP64(), GP64()
	MOVQ(src, from)
	MOVQ(dst, to)
	MOVQ(panels, left)
	Label("panel")
	for at := 0; at < 8*s.Width; at += 64 {
		PREFETCHT0(Mem{Base: from, Index: ahead, Scale: 1, Disp: at})
	}
	x, y := s.Load(Mem{Base: from}), s.Load(Mem{Base: from, Disp: 4 * s.Width})
	VMOVUPS(x, Mem{Base: to})
	VMOVUPS(y, Mem{Base: to, Disp: 4 * s.Width})
	ADDQ(U32(8*s.Width), from)
	ADDQ(each, to)
	DECQ(left)
	JNE(LabelRef("panel"))
	ADDQ(ld, src)
	ADDQ(U32(8*s.Width), dst)
	DECQ(k)
	JMP(LabelRef("row"))
	Label("done")
	s.Ret()
}
