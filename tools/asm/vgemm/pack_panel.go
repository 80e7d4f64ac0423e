package vgemm

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// lineAhead is the distance in bytes at which PackPanel fetches each row ahead.
const lineAhead = 256

// PackPanel emits the transposition of a panel of mr = 12 rows, 16 columns at a time: it reads whole cache
// lines, since rows in the same set of a cache would push each other out between two reads of a line. Rows from rows on become zeros.
func PackPanel(s emit.ISA) {
	mr := TileRows(s)
	dst := emit.GP("dst")
	src := emit.GP("src")
	ld := emit.GP("ld")
	rows := emit.GP("rows")
	k := emit.GP("k")
	words := emit.GP("words")
	SHLQ(Imm(2), ld)
	down := s.Mask(addressOf(words, -4*mr))
	nothing := GP64()
	LEAQ(s.Bits(0), nothing)
	Label("loop")
	lanes, full := GP64(), GP64()
	MOVQ(U32(uint32(s.Width)), full)
	MOVQ(k, lanes)
	CMPQ(lanes, full)
	CMOVQGT(full, lanes)
	NEGQ(lanes)
	at := GP64()
	LEAQ(Mem{Base: words, Index: lanes, Scale: 4}, at)
	across := s.Mask(at)
	row, from := GP64(), GP64()
	MOVQ(src, row)
	x := make([]reg.VecVirtual, mr)
	for i := range x {
		MOVQ(row, from)
		CMPQ(rows, Imm(uint64(i)))
		CMOVQLE(nothing, from)
		PREFETCHT0(Mem{Base: from, Disp: lineAhead})
		x[i] = s.LoadMasked(Mem{Base: from}, across)
		ADDQ(ld, row)
	}
	for j, column := range turnedPanel(s, x) {
		s.StoreMasked(column, Mem{Base: dst}, down)
		ADDQ(U32(uint32(4*mr)), dst)
		if j < s.Width-1 {
			CMPQ(k, Imm(uint64(j+1)))
			JEQ(LabelRef("done"))
		}
	}
	ADDQ(U32(uint32(4*s.Width)), src)
	SUBQ(U32(uint32(s.Width)), k)
	JNE(LabelRef("loop"))
	Label("done")
	s.Ret()
}

// addressOf is an address some bytes behind a base.
func addressOf(base reg.Register, bytes int) reg.Register {
	at := GP64()
	LEAQ(Mem{Base: base, Disp: bytes}, at)
	return at
}

// turnedPanel transposes 12 registers of 16 lanes to 16 registers, whose last quarters are undefined.
func turnedPanel(s emit.ISA, x []reg.VecVirtual) []reg.VecVirtual {
	s.TurnQuarters(x)
	out := make([]reg.VecVirtual, 16)
	const even, odd = 0x88, 0xdd
	for c := range 4 {
		for parity, which := range []int{even, odd} {
			both := s.Shuffled(which, x[c], x[4+c])
			for half := range 2 {
				quarter := parity + 2*half
				out[4*quarter+c] = s.Shuffled([]int{0x08, 0x0d}[half]|quarter<<4|quarter<<6, both, x[8+c])
			}
		}
	}
	return out
}
