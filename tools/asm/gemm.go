package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// panelAhead is how many bytes ahead of its use a panel of A, which comes from L2, is fetched.
const panelAhead = 1024

// columnsAhead is the same for a panel of B, which comes from L2 while one of A stays.
const columnsAhead = 1536

// micro emits the GEMM micro kernel of the first rows of panels of mr rows, and two vectors of columns.
func (s isa) micro(mr, rows int) {
	name := fmt.Sprintf("micro%d%s", rows, s.tag)
	TEXT(name, NOSPLIT, "func(k int, a, b, c *float32, ldc int, accumulate bool)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s is the GEMM micro kernel of %d rows.", name, rows))
	k := Load(Param("k"), GP64())
	a := Load(Param("a"), GP64())
	b := Load(Param("b"), GP64())
	c := Load(Param("c"), GP64())
	ldc := Load(Param("ldc"), GP64())
	keep := Load(Param("accumulate"), GP8())
	SHLQ(Imm(2), ldc)
	acc := make([][2]reg.VecVirtual, rows)
	for i := range acc {
		for j := range acc[i] {
			acc[i][j] = s.zero()
		}
	}
	wide := 4 * s.w
	ahead := GP64()
	MOVQ(c, ahead)
	for range acc {
		for j := range acc[0] {
			PREFETCHT0(Mem{Base: ahead, Disp: j * wide})
		}
		PREFETCHT0(Mem{Base: ahead, Disp: 2*wide - 4})
		ADDQ(ldc, ahead)
	}
	step := func(u int) {
		var bv [2]reg.VecVirtual
		for j := range bv {
			if s.w == 16 {
				PREFETCHT0(Mem{Base: b, Disp: columnsAhead + (2*u+j)*wide})
			}
			bv[j] = s.load(Mem{Base: b, Disp: (2*u + j) * wide})
		}
		for i := range acc {
			x := s.v()
			VBROADCASTSS(Mem{Base: a, Disp: (u*mr + i) * 4}, x)
			VFMADD231PS(bv[0], x, acc[i][0])
			VFMADD231PS(bv[1], x, acc[i][1])
		}
	}
	advance := func(n int) {
		ADDQ(U32(n*mr*4), a)
		ADDQ(U32(n*2*wide), b)
		SUBQ(U32(n), k)
	}
	Label("four")
	CMPQ(k, U32(4))
	JLT(LabelRef("one"))
	for u := 0; u < 4; u++ {
		if u*mr*4%64 == 0 || u*mr*4%64+mr*4 > 64 {
			PREFETCHT0(Mem{Base: a, Disp: panelAhead + u*mr*4})
		}
		step(u)
	}
	advance(4)
	JMP(LabelRef("four"))
	Label("one")
	CMPQ(k, U32(1))
	JLT(LabelRef("store"))
	step(0)
	advance(1)
	JMP(LabelRef("one"))
	Label("store")
	TESTB(keep, keep)
	JEQ(LabelRef("write"))
	from := GP64()
	MOVQ(c, from)
	for i := range acc {
		for j := range acc[i] {
			VADDPS(Mem{Base: from, Disp: j * wide}, acc[i][j], acc[i][j])
		}
		ADDQ(ldc, from)
	}
	Label("write")
	for i := range acc {
		for j := range acc[i] {
			VMOVUPS(acc[i][j], Mem{Base: c, Disp: j * wide})
		}
		ADDQ(ldc, c)
	}
	VZEROUPPER()
	RET()
}

// packA emits the transposition of a full panel of mr rows, four columns at a
// time; k is a multiple of four.
func (s isa) packA(mr int) {
	name := fmt.Sprintf("packA%d%s", mr, s.tag)
	TEXT(name, NOSPLIT, "func(dst, src *float32, ld, k int)")
	Pragma("noescape")
	Doc(name + " transposes a full panel, four columns at a time.")
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
		x := [4]reg.VecVirtual{read(), read(), read(), read()}
		var t [4]reg.VecVirtual
		for j := range t {
			t[j] = XMM()
		}
		VUNPCKLPS(x[1], x[0], t[0])
		VUNPCKLPS(x[3], x[2], t[1])
		VUNPCKHPS(x[1], x[0], t[2])
		VUNPCKHPS(x[3], x[2], t[3])
		for j := 0; j < 4; j++ {
			r := XMM()
			if j%2 == 0 {
				VUNPCKLPD(t[j/2*2+1], t[j/2*2], r)
			} else {
				VUNPCKHPD(t[j/2*2+1], t[j/2*2], r)
			}
			VMOVUPS(r, Mem{Base: dst, Disp: 4 * (j*mr + i)})
		}
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

// packB emits the copy of k rows of whole panels of two vectors.
func (s isa) packB() {
	TEXT("packB"+s.tag, NOSPLIT, "func(dst, src *float32, ld, k, panels int)")
	Pragma("noescape")
	Doc("packB" + s.tag + " copies rows of whole panels.")
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	ld := Load(Param("ld"), GP64())
	k := Load(Param("k"), GP64())
	panels := Load(Param("panels"), GP64())
	SHLQ(Imm(2), ld)
	each := GP64()
	MOVQ(k, each)
	IMUL3Q(U32(8*s.w), each, each)
	Label("row")
	CMPQ(k, U32(1))
	JLT(LabelRef("done"))
	from, to, left := GP64(), GP64(), GP64()
	MOVQ(src, from)
	MOVQ(dst, to)
	MOVQ(panels, left)
	Label("panel")
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
	TEXT("copyRows"+s.tag, NOSPLIT, "func(dst, src *float32, ldd, lds, rows, n int, words *int32)")
	Pragma("noescape")
	Doc("copyRows" + s.tag + " copies rows of n values, words being the mask of the n-1 behind whole vectors, plus one.")
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
