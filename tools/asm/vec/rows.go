package vec

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// CopyRows emits the copy of rows of n values. The last vector of a row ends with the row; words are the mask of rows of less than a vector.
func CopyRows(s emit.ISA) {
	dst := emit.GP("dst")
	src := emit.GP("src")
	ldd := emit.GP("ldd")
	lds := emit.GP("lds")
	rows := emit.GP("rows")
	n := emit.GP("n")
	SHLQ(Imm(2), ldd)
	SHLQ(Imm(2), lds)
	next := func(loop string) {
		ADDQ(lds, src)
		ADDQ(ldd, dst)
		DECQ(rows)
		JNE(LabelRef(loop))
	}
	CMPQ(n, U32(uint32(s.Width)))
	JLT(LabelRef("less"))
	from, to, left := GP64(), GP64(), GP64()
	last := GP64()
	LEAQ(Mem{Base: n, Disp: -s.Width}, last)
	SHLQ(Imm(2), last)
	Label("row")
	MOVQ(src, from)
	MOVQ(dst, to)
	MOVQ(n, left)
	Label("vector")
	CMPQ(left, U32(uint32(s.Width)))
	JLE(LabelRef("tail"))
	VMOVUPS(s.Load(Mem{Base: from}), Mem{Base: to})
	ADDQ(U32(4*s.Width), from)
	ADDQ(U32(4*s.Width), to)
	SUBQ(U32(uint32(s.Width)), left)
	JMP(LabelRef("vector"))
	Label("tail")
	VMOVUPS(s.Load(Mem{Base: src, Index: last, Scale: 1}), Mem{Base: dst, Index: last, Scale: 1})
	next("row")
	s.Ret()
	Label("less")
	mask := s.Mask(emit.GP("words"))
	Label("part")
	s.StoreMasked(s.LoadMasked(Mem{Base: src}, mask), Mem{Base: dst}, mask)
	next("part")
	s.Ret()
}

// GatherRows emits the copy of rows of n values at offsets. The last vector of a row ends with the row; words are the mask of rows of less than a vector.
func GatherRows(s emit.ISA) {
	dst := emit.GP("dst")
	src := emit.GP("src")
	ldd := emit.GP("ldd")
	offs := emit.GP("offs")
	rows := emit.GP("rows")
	n := emit.GP("n")
	SHLQ(Imm(2), ldd)
	next := func(loop string) {
		ADDQ(Imm(8), offs)
		ADDQ(ldd, dst)
		DECQ(rows)
		JNE(LabelRef(loop))
	}
	row, last, at := GP64(), GP64(), GP64()
	CMPQ(n, U32(uint32(s.Width)))
	JLT(LabelRef("less"))
	LEAQ(Mem{Base: n, Disp: -s.Width}, last)
	SHLQ(Imm(2), last)
	Label("row")
	MOVQ(Mem{Base: offs}, row)
	LEAQ(Mem{Base: src, Index: row, Scale: 4}, row)
	XORQ(at, at)
	JMP(LabelRef("more"))
	Label("vector")
	VMOVUPS(s.Load(Mem{Base: row, Index: at, Scale: 1}), Mem{Base: dst, Index: at, Scale: 1})
	ADDQ(U32(4*s.Width), at)
	Label("more")
	CMPQ(at, last)
	JLT(LabelRef("vector"))
	VMOVUPS(s.Load(Mem{Base: row, Index: last, Scale: 1}), Mem{Base: dst, Index: last, Scale: 1})
	next("row")
	s.Ret()
	Label("less")
	mask := s.Mask(emit.GP("words"))
	Label("part")
	MOVQ(Mem{Base: offs}, row)
	s.StoreMasked(s.LoadMasked(Mem{Base: src, Index: row, Scale: 4}, mask), Mem{Base: dst}, mask)
	next("part")
	s.Ret()
}

// Transpose emits dst[j*ldd+i] = src[i*lds+j] for four rows i of n columns j, n a multiple of four.
func Transpose(s emit.ISA) {
	dst := emit.GP("dst")
	src := emit.GP("src")
	ldd := emit.GP("ldd")
	lds := emit.GP("lds")
	n := emit.GP("n")
	SHLQ(Imm(2), ldd)
	SHLQ(Imm(2), lds)
	rows := [4]reg.Register{src, GP64(), GP64(), GP64()}
	for i := 1; i < 4; i++ {
		MOVQ(rows[i-1], rows[i])
		ADDQ(lds, rows[i])
	}
	Label("loop")
	CMPQ(n, U32(4))
	JLT(LabelRef("done"))
	var x [4]reg.VecVirtual
	for i := range x {
		x[i] = XMM()
		VMOVUPS(Mem{Base: rows[i]}, x[i])
		ADDQ(Imm(16), rows[i])
	}
	emit.TurnFour(x, XMM, func(_ int, column reg.VecVirtual) {
		VMOVUPS(column, Mem{Base: dst})
		ADDQ(ldd, dst)
	})
	SUBQ(Imm(4), n)
	JMP(LabelRef("loop"))
	Label("done")
	RET()
}
