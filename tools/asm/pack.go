package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// packA emits the transposition of a full panel of mr rows, four columns at a
// time; k is a multiple of four.
func (s isa) packA() {
	const mr = 6
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	ld := Load(Param("ld"), GP64())
	k := Load(Param("k"), GP64())
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
		turnFour([4]reg.VecVirtual{read(), read(), read(), read()}, XMM, func(j int, column reg.VecVirtual) {
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

// rowsAhead is how many rows ahead packB fetches its source, whose rows are too short for the computer to notice a pattern.
const rowsAhead = 4

// packB emits the copy of k rows of whole panels of two vectors.
func (s isa) packB() {
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	ld := Load(Param("ld"), GP64())
	k := Load(Param("k"), GP64())
	panels := Load(Param("panels"), GP64())
	SHLQ(Imm(2), ld)
	each := GP64()
	MOVQ(k, each)
	IMUL3Q(U32(8*s.w), each, each)
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
	for at := 0; at < 8*s.w; at += 64 {
		PREFETCHT0(Mem{Base: from, Index: ahead, Scale: 1, Disp: at})
	}
	x, y := s.load(Mem{Base: from}), s.load(Mem{Base: from, Disp: 4 * s.w})
	VMOVUPS(x, Mem{Base: to})
	VMOVUPS(y, Mem{Base: to, Disp: 4 * s.w})
	ADDQ(U32(8*s.w), from)
	ADDQ(each, to)
	DECQ(left)
	JNE(LabelRef("panel"))
	ADDQ(ld, src)
	ADDQ(U32(8*s.w), dst)
	DECQ(k)
	JMP(LabelRef("row"))
	Label("done")
	VZEROUPPER()
	RET()
}

// copyRows emits the copy of rows of n values, the last vector of each masked by words.
func (s isa) copyRows() {
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	ldd := Load(Param("ldd"), GP64())
	lds := Load(Param("lds"), GP64())
	rows := Load(Param("rows"), GP64())
	n := Load(Param("n"), GP64())
	mask := s.mask(Load(Param("words"), GP64()))
	SHLQ(Imm(2), ldd)
	SHLQ(Imm(2), lds)
	Label("row")
	from, to, left := GP64(), GP64(), GP64()
	MOVQ(src, from)
	MOVQ(dst, to)
	MOVQ(n, left)
	Label("vector")
	CMPQ(left, U32(uint32(s.w)))
	JLE(LabelRef("tail"))
	VMOVUPS(s.load(Mem{Base: from}), Mem{Base: to})
	ADDQ(U32(4*s.w), from)
	ADDQ(U32(4*s.w), to)
	SUBQ(U32(uint32(s.w)), left)
	JMP(LabelRef("vector"))
	Label("tail")
	s.storeMasked(s.loadMasked(Mem{Base: from}, mask), Mem{Base: to}, mask)
	ADDQ(lds, src)
	ADDQ(ldd, dst)
	DECQ(rows)
	JNE(LabelRef("row"))
	VZEROUPPER()
	RET()
}

// gatherRows emits the copy of rows of one vector, or of two, that lie anywhere; the last vector is masked by words.
func (s isa) gatherRows() {
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	ldd := Load(Param("ldd"), GP64())
	offs := Load(Param("offs"), GP64())
	rows := Load(Param("rows"), GP64())
	n := Load(Param("n"), GP64())
	mask := s.mask(Load(Param("words"), GP64()))
	SHLQ(Imm(2), ldd)
	at := GP64()
	next := func(loop string) {
		ADDQ(Imm(8), offs)
		ADDQ(ldd, dst)
		DECQ(rows)
		JNE(LabelRef(loop))
	}
	CMPQ(n, U32(uint32(s.w)))
	JLE(LabelRef("one"))
	Label("two")
	MOVQ(Mem{Base: offs}, at)
	x := s.load(Mem{Base: src, Index: at, Scale: 4})
	y := s.loadMasked(Mem{Base: src, Index: at, Scale: 4, Disp: 4 * s.w}, mask)
	VMOVUPS(x, Mem{Base: dst})
	s.storeMasked(y, Mem{Base: dst, Disp: 4 * s.w}, mask)
	next("two")
	VZEROUPPER()
	RET()
	Label("one")
	MOVQ(Mem{Base: offs}, at)
	s.storeMasked(s.loadMasked(Mem{Base: src, Index: at, Scale: 4}, mask), Mem{Base: dst}, mask)
	next("one")
	VZEROUPPER()
	RET()
}
