package vgemm

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// Scattered emits the micro-kernel of mr rows and nv vectors whose B is not packed: row p of B is a vector at each of b+from[j]+offs[p]. The vectors
// of a row of C are at c+to[j]; only the first lanes of each are stored. v has from, to and lanes of each vector.
func Scattered(s emit.ISA, mr, nv int) {
	k := emit.GP("k")
	a := emit.GP("a")
	offs := emit.GP("offs")
	vectors := emit.GP("v")
	b := places("b", vectors, nv, 0)
	acc := s.Accumulators(mr, nv)
	step := func(u int) {
		at, scale := GP64(), uint8(4)
		MOVQ(Mem{Base: offs, Disp: 8 * u}, at)
		if s.Elements { // whose loads of vectors multiply an index by 1 or 16
			SHLQ(Imm(2), at)
			scale = 1
		}
		bv := make([]reg.VecVirtual, nv)
		for j := range bv {
			bv[j] = s.Load(Mem{Base: b[j], Index: at, Scale: scale})
		}
		s.AddColumn(acc, Mem{Base: a, Disp: u * mr * 4}, bv, func(i int) bool { return i%3 == 1 }, s.AddProducts)
	}
	advance := func(n int) {
		ADDQ(U32(n*mr*4), a)
		ADDQ(U32(n*8), offs)
		SUBQ(U32(n), k)
	}
	byFours(k, func() {
		for u := range 4 {
			step(u)
		}
		advance(4)
	}, func() {
		step(0)
		advance(1)
	})
	storeVectors(s, acc, vectors)
	s.Ret()
}

// storeVectors stores each vector of a tile at its place in the rows of C, or adds it, through the mask of its lanes.
func storeVectors(s emit.ISA, acc [][]reg.VecVirtual, vectors reg.Register) {
	ldc := emit.GP("ldc")
	keep := Load(Param("accumulate"), GP8())
	SHLQ(Imm(2), ldc)
	c := places("c", vectors, len(acc[0]), 8)
	table := emit.GP("words")
	for j := range c {
		n, words := GP64(), GP64()
		MOVQ(Mem{Base: vectors, Disp: 24*j + 16}, n)
		NEGQ(n)
		LEAQ(Mem{Base: table, Index: n, Scale: 4}, words)
		mask := s.Mask(words)
		fresh := fmt.Sprintf("fresh%d", j)
		TESTB(keep, keep)
		JEQ(LabelRef(fresh))
		from := GP64()
		MOVQ(c[j], from)
		for i := range acc {
			old := s.LoadMasked(Mem{Base: from}, mask)
			VADDPS(old, acc[i][j], acc[i][j])
			ADDQ(ldc, from)
		}
		Label(fresh)
		for i := range acc {
			s.StoreMasked(acc[i][j], Mem{Base: c[j]}, mask)
			ADDQ(ldc, c[j])
		}
	}
}

// places adds a field of each vector to a base.
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
