package vgemm

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// ByRows emits the GEMM micro-kernel of some rows and nv vectors of columns whose operands are not packed: values of a row of A lie
// side by side and rows lda apart, those of B ldb.
func ByRows(s emit.ISA, rows, nv int) {
	k, a, lda, b, ldb := unpacked(s, rows, nv)
	ahead := GP64()
	IMUL3Q(Imm(uint64(rows)), lda, ahead)
	ADDQ(ahead, emit.ParamAt("a"))
	third, thirdB := GP64(), GP64()
	LEAQ(Mem{Base: lda, Index: lda, Scale: 2}, third)
	LEAQ(Mem{Base: ldb, Index: ldb, Scale: 2}, thirdB)
	from, group := []reg.Register{a}, Mem{Index: third, Scale: 1}
	rowsEach := 3
	if s.Elements { // which keeps fewer sums of registers than rows
		rowsEach, group = 2, Mem{Index: lda, Scale: 2}
	}
	for len(from) < (rows+rowsEach-1)/rowsEach {
		next := GP64()
		LEAQ(emit.Based(group, from[len(from)-1]), next)
		from = append(from, next)
	}
	acc := s.Accumulators(rows, nv)
	line := func(u int) []reg.VecVirtual {
		return columns(s, [4]Mem{{Base: b}, {Base: b, Index: ldb, Scale: 1}, {Base: b, Index: ldb, Scale: 2}, {Base: b, Index: thirdB, Scale: 1}}[u], nv)
	}
	eachRow := func(u int, add func(i int, at Mem)) {
		for i := range acc {
			at := Mem{Base: from[i/rowsEach], Disp: 4 * u}
			if beside := i % rowsEach; beside > 0 {
				at.Index, at.Scale = lda, uint8(beside)
			}
			add(i, at)
		}
	}
	unroll := emit.Unroll
	if s.Elements { // whose loads of values and indices are instructions of their own
		unroll *= 2
	}
	s.Steps(k, unroll, func(n int) {
		for u := 0; u < n; u++ {
			if u == 4 {
				LEAQ(Mem{Base: b, Index: ldb, Scale: 4}, b)
			}
			bv := line(u % 4)
			if s.Elements && u+1 < n { // a load has the values of two steps
				second := line(u%4 + 1)
				eachRow(u, func(i int, at Mem) {
					values := s.V()
					VMOVQ(at, values)
					emit.AddElement(acc[i], 0, values, bv)
					emit.AddElement(acc[i], 1, values, second)
				})
				u++
				continue
			}
			eachRow(u, func(i int, at Mem) { s.AddProducts(acc[i], at, bv, i%6 == 0) })
		}
		for _, r := range from {
			ADDQ(Imm(uint64(4*n)), r)
		}
		LEAQ(Mem{Base: b, Index: ldb, Scale: uint8(min(n, 4))}, b)
	})
	storeUnpacked(s, acc)
}

// ByColumns is ByRows for an A stored by columns: values of a column lie side by side, columns lda apart.
func ByColumns(s emit.ISA, rows, nv int) {
	k, a, lda, b, ldb := unpacked(s, rows, nv)
	ADDQ(Imm(uint64(4*rows)), emit.ParamAt("a"))
	acc := s.Accumulators(rows, nv)
	s.Steps(k, emit.Unroll, func(n int) {
		for range n {
			bv := columns(s, Mem{Base: b}, nv)
			ADDQ(ldb, b)
			s.AddColumn(acc, Mem{Base: a}, bv, func(i int) bool { return i%6 == 1 }, s.AddProducts)
			ADDQ(lda, a)
		}
	})
	storeUnpacked(s, acc)
}

// unpacked begins a micro-kernel of operands that are not packed, for tiles of rows one below another. It returns distances in bytes. Each tile
// begins here, after the parameters a and c have been advanced.
func unpacked(s emit.ISA, rows, nv int) (k, a, lda, b, ldb reg.Register) {
	Label("tile")
	c, ldc := emit.Place()
	fetchRows(s, c, ldc, rows, nv)
	k, a, lda = emit.GP("k"), emit.GP("a"), emit.GP("lda")
	b, ldb = emit.GP("b"), emit.GP("ldb")
	SHLQ(Imm(2), lda)
	SHLQ(Imm(2), ldb)
	return k, a, lda, b, ldb
}

// columns are the vectors of a row of B.
func columns(s emit.ISA, line Mem, nv int) []reg.VecVirtual {
	list := make([]reg.VecVirtual, nv)
	for j := range list {
		list[j] = s.Load(line.Offset(4 * s.Width * j))
	}
	return list
}

// storeUnpacked ends a micro-kernel of operands that are not packed. Only the last tile may have fewer rows.
func storeUnpacked(s emit.ISA, acc [][]reg.VecVirtual) {
	c, ldc := emit.Place()
	s.StoreTile(acc, c, ldc, func() {
		MOVQ(c, emit.ParamAt("c"))
		DECQ(emit.ParamAt("tiles"))
		JNE(LabelRef("tile"))
	})
}
