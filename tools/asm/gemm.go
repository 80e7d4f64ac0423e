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
	acc := s.accumulators(rows)
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
	CMPQ(k, U32(4))
	JLT(LabelRef("one"))
	align(64)
	Label("four")
	for u := 0; u < 4; u++ {
		if u*mr*4%64 == 0 || u*mr*4%64+mr*4 > 64 {
			PREFETCHT0(Mem{Base: a, Disp: panelAhead + u*mr*4})
		}
		step(u)
	}
	advance(4)
	align(32)
	CMPQ(k, U32(4))
	JGE(LabelRef("four"))
	Label("one")
	CMPQ(k, U32(1))
	JLT(LabelRef("store"))
	step(0)
	advance(1)
	JMP(LabelRef("one"))
	Label("store")
	storeTile(acc, c, ldc, keep, wide)
}

// accumulators are zeros for a tile of two vectors of columns.
func (s isa) accumulators(rows int) [][2]reg.VecVirtual {
	acc := make([][2]reg.VecVirtual, rows)
	for i := range acc {
		acc[i] = [2]reg.VecVirtual{s.zero(), s.zero()}
	}
	return acc
}

// storeTile ends a micro kernel: it stores the tile, vectors of wide bytes, in rows ldc bytes apart, added to what is there if keep is
// not 0.
func storeTile(acc [][2]reg.VecVirtual, c, ldc, keep reg.Register, wide int) {
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
