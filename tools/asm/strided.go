package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// strided emits the GEMM micro kernel of some rows and nv vectors of columns whose operands are not packed: values of A
// are row apart along a column and col apart along a row, rows of B ldb apart.
func (s isa) strided(rows, nv int) {
	name := fmt.Sprintf("strided%dx%d%s", rows, nv, s.tag)
	TEXT(name, NOSPLIT, "func(k int, a *float32, row, col int, b *float32, ldb int, c *float32, ldc int, accumulate bool"+edge+")")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s is the GEMM micro kernel of %d rows, %d vectors wide, of operands that are not packed.", name, rows, nv))
	k := Load(Param("k"), GP64())
	row := Load(Param("row"), GP64())
	col := Load(Param("col"), GP64())
	b := Load(Param("b"), GP64())
	ldb := Load(Param("ldb"), GP64())
	for _, stride := range []reg.Register{row, col, ldb} {
		SHLQ(Imm(2), stride)
	}
	third := GP64()
	LEAQ(Mem{Base: row, Index: row, Scale: 2}, third)
	a := []reg.Register{Load(Param("a"), GP64())}
	for len(a) < (rows+2)/3 {
		next := GP64()
		LEAQ(Mem{Base: a[len(a)-1], Index: third, Scale: 1}, next)
		a = append(a, next)
	}
	acc := s.accumulators(rows, nv)
	step := func() {
		bv := make([]reg.VecVirtual, nv)
		for j := range bv {
			bv[j] = s.load(Mem{Base: b, Disp: 4 * s.w * j})
		}
		ADDQ(ldb, b)
		for i := range acc {
			at := Mem{Base: a[i/3]}
			if i%3 > 0 {
				at.Index, at.Scale = row, uint8(i%3)
			}
			s.addProducts(acc[i], at, bv)
		}
		for _, r := range a {
			ADDQ(col, r)
		}
	}
	CMPQ(k, U32(2))
	JLT(LabelRef("one"))
	align(64)
	Label("two")
	step()
	step()
	SUBQ(U32(2), k)
	align(32)
	CMPQ(k, U32(2))
	JGE(LabelRef("two"))
	Label("one")
	TESTQ(k, k)
	JEQ(LabelRef("store"))
	step()
	Label("store")
	c := Load(Param("c"), GP64())
	ldc := Load(Param("ldc"), GP64())
	SHLQ(Imm(2), ldc)
	s.storeTile(acc, c, ldc)
}
