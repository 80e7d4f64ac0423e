package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// scattered emits the micro kernel of mr rows and nv vectors whose B is not packed: row p of B is one vector at each of
// b+from[j]+offs[p]. The vectors of a row of C are at c+to[j]; of each only the first
// lanes are stored, the masks of n lanes being n words before words. v holds from, to and lanes of each vector.
func (s isa) scattered(mr, nv int) {
	k := Load(Param("k"), GP64())
	a := Load(Param("a"), GP64())
	offs := Load(Param("offs"), GP64())
	vectors := Load(Param("v"), GP64())
	b := places("b", vectors, nv, 0)
	acc := make([][]reg.VecVirtual, mr)
	for i := range acc {
		for range nv {
			acc[i] = append(acc[i], s.zero())
		}
	}
	step := func(u int) {
		at := GP64()
		MOVQ(Mem{Base: offs, Disp: 8 * u}, at)
		bv := make([]reg.VecVirtual, nv)
		for j := range bv {
			bv[j] = s.load(Mem{Base: b[j], Index: at, Scale: 4})
		}
		for i := range acc {
			s.addProducts(acc[i], Mem{Base: a, Disp: (u*mr + i) * 4}, bv, i%3 == 1)
		}
	}
	advance := func(n int) {
		ADDQ(U32(n*mr*4), a)
		ADDQ(U32(n*8), offs)
		SUBQ(U32(n), k)
	}
	CMPQ(k, U32(4))
	JLT(LabelRef("one"))
	align(64)
	Label("four")
	for u := 0; u < 4; u++ {
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
	ldc := Load(Param("ldc"), GP64())
	keep := Load(Param("accumulate"), GP8())
	SHLQ(Imm(2), ldc)
	c := places("c", vectors, nv, 8)
	table := Load(Param("words"), GP64())
	for j := range c {
		n, words := GP64(), GP64()
		MOVQ(Mem{Base: vectors, Disp: 24*j + 16}, n)
		NEGQ(n)
		LEAQ(Mem{Base: table, Index: n, Scale: 4}, words)
		mask := s.mask(words)
		fresh := fmt.Sprintf("fresh%d", j)
		TESTB(keep, keep)
		JEQ(LabelRef(fresh))
		from := GP64()
		MOVQ(c[j], from)
		for i := range acc {
			old := s.loadMasked(Mem{Base: from}, mask)
			VADDPS(old, acc[i][j], acc[i][j])
			ADDQ(ldc, from)
		}
		Label(fresh)
		for i := range acc {
			s.storeMasked(acc[i][j], Mem{Base: c[j]}, mask)
			ADDQ(ldc, c[j])
		}
	}
	VZEROUPPER()
	RET()
}

// places adds to a base what a field of each vector says.
func places(base string, vectors reg.Register, nv, field int) []reg.GPVirtual {
	at := make([]reg.GPVirtual, nv)
	for j := range at {
		from := GP64()
		MOVQ(Mem{Base: vectors, Disp: 24*j + field}, from)
		at[j] = GP64()
		Load(Param(base), at[j])
		LEAQ(Mem{Base: at[j], Index: from, Scale: 4}, at[j])
	}
	return at
}

func (s isa) zero() reg.VecVirtual {
	r := s.v()
	if s.w == 16 {
		VPXORD(r, r, r)
	} else {
		VXORPS(r, r, r)
	}
	return r
}

// mask makes a mask of the lanes whose words in memory are not zero.
func (s isa) mask(words reg.Register) reg.Register {
	v := s.v()
	if s.w == 16 {
		k := K()
		VMOVDQU32(Mem{Base: words}, v)
		VPTESTMD(v, v, k)
		return k
	}
	VMOVUPS(Mem{Base: words}, v)
	return v
}

func (s isa) loadMasked(m Mem, mask reg.Register) reg.VecVirtual {
	r := s.v()
	if s.w == 16 {
		VMOVUPS_Z(m, mask, r)
	} else {
		VMASKMOVPS(m, mask, r)
	}
	return r
}

func (s isa) storeMasked(v reg.VecVirtual, m Mem, mask reg.Register) {
	if s.w == 16 {
		VMOVUPS(v, mask, m)
		return
	}
	stores++
	part, done := fmt.Sprintf("part%d", stores), fmt.Sprintf("stored%d", stores)
	lanes := GP32()
	VMOVMSKPS(mask, lanes)
	CMPL(lanes, U32(1<<s.w-1))
	JNE(LabelRef(part))
	VMOVUPS(v, m)
	JMP(LabelRef(done))
	Label(part)
	VMASKMOVPS(v, mask, m)
	Label(done)
}

// stores numbers the labels of masked stores of AVX2. With a mask they take longer, on some processors far longer, so that whole vectors go
// without.
var stores int

// transpose emits dst[j*ldd+i] = src[i*lds+j] for four rows i of n columns j, n a multiple of four.
func (s isa) transpose() {
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	ldd := Load(Param("ldd"), GP64())
	lds := Load(Param("lds"), GP64())
	n := Load(Param("n"), GP64())
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
	turnFour(x, XMM, func(_ int, column reg.VecVirtual) {
		VMOVUPS(column, Mem{Base: dst})
		ADDQ(ldd, dst)
	})
	SUBQ(Imm(4), n)
	JMP(LabelRef("loop"))
	Label("done")
	RET()
}
