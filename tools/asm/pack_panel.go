package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// lineAhead is how many bytes ahead packPanel fetches each row.
const lineAhead = 256

// packPanel emits the transposition of a panel of mr = 12 rows, 16 columns at a time: rows are read in whole lines, so that rows
// that fall into the same set of a cache do not drive each other out between two reads of a line. Rows from rows on are zeros.
func (s isa) packPanel() {
	mr := tileRows(s)
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	ld := Load(Param("ld"), GP64())
	rows := Load(Param("rows"), GP64())
	k := Load(Param("k"), GP64())
	words := Load(Param("words"), GP64())
	SHLQ(Imm(2), ld)
	down := s.mask(addressOf(words, -4*mr))
	nothing := GP64()
	LEAQ(s.bits(0), nothing)
	Label("loop")
	lanes, full := GP64(), GP64()
	MOVQ(U32(uint32(s.w)), full)
	MOVQ(k, lanes)
	CMPQ(lanes, full)
	CMOVQGT(full, lanes)
	NEGQ(lanes)
	at := GP64()
	LEAQ(Mem{Base: words, Index: lanes, Scale: 4}, at)
	across := s.mask(at)
	row, from := GP64(), GP64()
	MOVQ(src, row)
	x := make([]reg.VecVirtual, mr)
	for i := range x {
		MOVQ(row, from)
		CMPQ(rows, Imm(uint64(i)))
		CMOVQLE(nothing, from)
		PREFETCHT0(Mem{Base: from, Disp: lineAhead})
		x[i] = s.loadMasked(Mem{Base: from}, across)
		ADDQ(ld, row)
	}
	for j, column := range s.turnedPanel(x) {
		s.storeMasked(column, Mem{Base: dst}, down)
		ADDQ(U32(uint32(4*mr)), dst)
		if j < s.w-1 {
			CMPQ(k, Imm(uint64(j+1)))
			JEQ(LabelRef("done"))
		}
	}
	ADDQ(U32(uint32(4*s.w)), src)
	SUBQ(U32(uint32(s.w)), k)
	JNE(LabelRef("loop"))
	Label("done")
	VZEROUPPER()
	RET()
}

// addressOf is a register with a place some bytes from another.
func addressOf(base reg.Register, bytes int) reg.Register {
	at := GP64()
	LEAQ(Mem{Base: base, Disp: bytes}, at)
	return at
}

// turnedPanel transposes 12 registers of 16 lanes to 16 of which the last quarters are not used.
func (s isa) turnedPanel(x []reg.VecVirtual) []reg.VecVirtual {
	s.turnQuarters(x)
	out := make([]reg.VecVirtual, 16)
	const even, odd = 0x88, 0xdd
	for c := range 4 {
		for parity, which := range []int{even, odd} {
			both := s.shuffled(which, x[c], x[4+c])
			for half := range 2 {
				quarter := parity + 2*half
				out[4*quarter+c] = s.shuffled([]int{0x08, 0x0d}[half]|quarter<<4|quarter<<6, both, x[8+c])
			}
		}
	}
	return out
}

// shuffled takes two quarters of each of two registers, as the pairs of bits of which say.
func (s isa) shuffled(which int, a, b reg.VecVirtual) reg.VecVirtual {
	r := s.v()
	VSHUFF32X4(Imm(uint64(which)), b, a, r)
	return r
}
