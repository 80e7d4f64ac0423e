package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sumRows emits dst[i] = scale*Σr term(src[r*ld+i]) + shift for n columns i: four vectors of columns at a time, then one, of
// which the last is masked. Rows are added in their order.
func (s isa) sumRows(name string, term func(x Mem, mask reg.Register, sum reg.VecVirtual)) {
	TEXT(name+s.tag, NOSPLIT, "func(dst, src *float32, ld, rows, n int, scale, shift float32, words *int32)")
	Pragma("noescape")
	Doc(name + s.tag + " adds up rows.")
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	ld := Load(Param("ld"), GP64())
	rows := Load(Param("rows"), GP64())
	n := Load(Param("n"), GP64())
	words := Load(Param("words"), GP64())
	SHLQ(Imm(2), ld)
	constant := func(param string) reg.VecVirtual {
		p, err := Param(param).Resolve()
		if err != nil {
			panic(err)
		}
		v := s.v()
		VBROADCASTSS(p.Addr, v)
		return v
	}
	scale, shift := constant("scale"), constant("shift")
	at, left := GP64(), GP64()
	columns := func(label string, count int, mask reg.Register) {
		sums := make([]reg.VecVirtual, count)
		for u := range sums {
			sums[u] = s.zero()
		}
		MOVQ(src, at)
		MOVQ(rows, left)
		Label(label + "row")
		for u, sum := range sums {
			term(Mem{Base: at, Disp: 4 * s.w * u}, mask, sum)
		}
		ADDQ(ld, at)
		DECQ(left)
		JNE(LabelRef(label + "row"))
		for u, sum := range sums {
			result, to := s.fma(sum, scale, shift), Mem{Base: dst, Disp: 4 * s.w * u}
			if mask == nil {
				VMOVUPS(result, to)
			} else {
				s.storeMasked(result, to, mask)
			}
		}
		ADDQ(U32(4*s.w*count), src)
		ADDQ(U32(4*s.w*count), dst)
		SUBQ(U32(count*s.w), n)
	}
	Label("four")
	CMPQ(n, U32(4*s.w))
	JLT(LabelRef("one"))
	columns("four", 4, nil)
	JMP(LabelRef("four"))
	Label("one")
	CMPQ(n, Imm(0))
	JLE(LabelRef("done"))
	lanes, table := GP64(), GP64()
	MOVQ(U32(s.w), lanes)
	CMPQ(n, lanes)
	CMOVQLT(n, lanes)
	NEGQ(lanes)
	LEAQ(Mem{Base: words, Index: lanes, Scale: 4}, table)
	columns("one", 1, s.mask(table))
	JMP(LabelRef("one"))
	Label("done")
	VZEROUPPER()
	RET()
}

// rowSums emits the sums of rows of values and of their squares.
func (s isa) rowSums() {
	load := func(m Mem, mask reg.Register) reg.VecVirtual {
		if mask == nil {
			return s.load(m)
		}
		return s.loadMasked(m, mask)
	}
	s.sumRows("sumRows", func(x Mem, mask reg.Register, sum reg.VecVirtual) { VADDPS(load(x, mask), sum, sum) })
	s.sumRows("sumSquares", func(x Mem, mask reg.Register, sum reg.VecVirtual) {
		v := load(x, mask)
		VFMADD231PS(v, v, sum)
	})
}
