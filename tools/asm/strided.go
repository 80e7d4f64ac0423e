package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// unroll is the number of steps of a turn of the loops of kernels whose operands are not packed.
const unroll = 4

// byRows emits the GEMM micro kernel of some rows and nv vectors of columns whose operands are not packed: values of a row of A lie
// side by side and rows lda apart, those of B ldb.
func (s isa) byRows(rows, nv int) {
	k, a, lda, b, ldb := s.unpacked(rows, nv)
	ahead := GP64()
	IMUL3Q(Imm(uint64(rows)), lda, ahead)
	ADDQ(ahead, paramAt("a"))
	third, thirdB := GP64(), GP64()
	LEAQ(Mem{Base: lda, Index: lda, Scale: 2}, third)
	LEAQ(Mem{Base: ldb, Index: ldb, Scale: 2}, thirdB)
	from := []reg.Register{a}
	for len(from) < (rows+2)/3 {
		next := GP64()
		LEAQ(Mem{Base: from[len(from)-1], Index: third, Scale: 1}, next)
		from = append(from, next)
	}
	acc := s.accumulators(rows, nv)
	step := func(u int) {
		line := [4]Mem{{Base: b}, {Base: b, Index: ldb, Scale: 1}, {Base: b, Index: ldb, Scale: 2}, {Base: b, Index: thirdB, Scale: 1}}[u]
		bv := s.columns(line, nv)
		for i := range acc {
			at := Mem{Base: from[i/3], Disp: 4 * u}
			if i%3 > 0 {
				at.Index, at.Scale = lda, uint8(i%3)
			}
			s.addProducts(acc[i], at, bv, i%6 == 0)
		}
	}
	s.steps(k, unroll, func(n int) {
		for u := range n {
			step(u)
		}
		for _, r := range from {
			ADDQ(Imm(uint64(4*n)), r)
		}
		LEAQ(Mem{Base: b, Index: ldb, Scale: uint8(n)}, b)
	})
	s.storeUnpacked(acc)
}

// byColumns is byRows for an A of which values of a column lie side by side, and columns lda apart.
func (s isa) byColumns(rows, nv int) {
	k, a, lda, b, ldb := s.unpacked(rows, nv)
	ADDQ(Imm(uint64(4*rows)), paramAt("a"))
	acc := s.accumulators(rows, nv)
	s.steps(k, unroll, func(n int) {
		for range n {
			bv := s.columns(Mem{Base: b}, nv)
			ADDQ(ldb, b)
			for i := range acc {
				s.addProducts(acc[i], Mem{Base: a, Disp: 4 * i}, bv, i%6 == 1)
			}
			ADDQ(lda, a)
		}
	})
	s.storeUnpacked(acc)
}

// unpacked begins a micro kernel of operands that are not packed, which does tiles of rows one below another; the distances it returns
// are in bytes. For each tile it begins anew, with what a and c point to moved on.
func (s isa) unpacked(rows, nv int) (k, a, lda, b, ldb reg.Register) {
	Label("tile")
	c, ldc := place()
	s.fetchRows(c, ldc, rows, nv)
	k, a, lda = Load(Param("k"), GP64()), Load(Param("a"), GP64()), Load(Param("lda"), GP64())
	b, ldb = Load(Param("b"), GP64()), Load(Param("ldb"), GP64())
	SHLQ(Imm(2), lda)
	SHLQ(Imm(2), ldb)
	return k, a, lda, b, ldb
}

// columns are the vectors of a row of B.
func (s isa) columns(line Mem, nv int) []reg.VecVirtual {
	list := make([]reg.VecVirtual, nv)
	for j := range list {
		list[j] = s.load(line.Offset(4 * s.w * j))
	}
	return list
}

// steps emits a loop of k steps, unroll of them in a turn, and what is left one by one.
func (s isa) steps(k reg.Register, unroll int, some func(n int)) {
	CMPQ(k, U32(uint32(unroll)))
	JLT(LabelRef("one"))
	align(64)
	Label("several")
	some(unroll)
	SUBQ(U32(uint32(unroll)), k)
	align(32)
	CMPQ(k, U32(uint32(unroll)))
	JGE(LabelRef("several"))
	Label("one")
	TESTQ(k, k)
	JEQ(LabelRef("store"))
	some(1)
	DECQ(k)
	JMP(LabelRef("one"))
	Label("store")
}

// storeUnpacked ends a micro kernel of operands that are not packed: rows may be missing only of the last tile.
func (s isa) storeUnpacked(acc [][]reg.VecVirtual) {
	c, ldc := place()
	s.storeTile(acc, c, ldc, func() {
		MOVQ(c, paramAt("c"))
		DECQ(paramAt("tiles"))
		JNE(LabelRef("tile"))
	})
}

// place is where the tile of C lies, and the bytes from one row to the next.
func place() (c, ldc reg.Register) {
	c, ldc = Load(Param("c"), GP64()), Load(Param("ldc"), GP64())
	SHLQ(Imm(2), ldc)
	return c, ldc
}

// paramAt is where a parameter lies.
func paramAt(name string) Mem {
	p, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return p.Addr
}
