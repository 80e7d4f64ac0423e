package vec

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// columnsFetched is the distance in bytes at which Turn fetches its source ahead.
const columnsFetched = 256

// Turn emits dst[j*ldd+i] = src[i*lds+j] for up to 16 rows i and columns j, in registers of 16 lanes. Instead of rows past the last it
// reads the last one again. It writes columns past the last to the last one's place, and then the last one over them.
func Turn(s emit.ISA) {
	dst := emit.GP("dst")
	src := emit.GP("src")
	ldd := emit.GP("ldd")
	lds := emit.GP("lds")
	rows := emit.GP("rows")
	cols := emit.GP("cols")
	words := emit.GP("words")
	SHLQ(Imm(2), ldd)
	SHLQ(Imm(2), lds)
	lanes := func(n reg.Register) reg.Register {
		at := GP64()
		MOVQ(n, at)
		NEGQ(at)
		LEAQ(Mem{Base: words, Index: at, Scale: 4}, at)
		return s.Mask(at)
	}
	across, down := lanes(cols), lanes(rows)
	zero, step := GP64(), GP64()
	XORQ(zero, zero)
	x := make([]reg.VecVirtual, s.Width)
	for i := range x {
		PREFETCHT0(Mem{Base: src, Disp: columnsFetched})
		x[i] = s.LoadMasked(Mem{Base: src}, across)
		MOVQ(lds, step)
		CMPQ(rows, Imm(uint64(i+1)))
		CMOVQLE(zero, step)
		ADDQ(step, src)
	}
	x = turned(s, x)
	last := GP64()
	LEAQ(Mem{Base: cols, Disp: -1}, last)
	IMULQ(ldd, last)
	ADDQ(last, dst)
	for j := len(x) - 1; j >= 0; j-- {
		s.StoreMasked(x[j], Mem{Base: dst}, down)
		MOVQ(ldd, step)
		CMPQ(cols, Imm(uint64(j)))
		CMOVQLE(zero, step)
		SUBQ(step, dst)
	}
	s.Ret()
}

// turned transposes 16 registers of 16 lanes: the quarters of every four rows first, then the order of the quarters.
func turned(s emit.ISA, x []reg.VecVirtual) []reg.VecVirtual {
	s.TurnQuarters(x)
	const even, odd = 0x88, 0xdd
	out := make([]reg.VecVirtual, 16)
	for c := range 4 {
		a, b := s.Shuffled(even, x[c], x[4+c]), s.Shuffled(odd, x[c], x[4+c])
		d, e := s.Shuffled(even, x[8+c], x[12+c]), s.Shuffled(odd, x[8+c], x[12+c])
		out[c], out[8+c] = s.Shuffled(even, a, d), s.Shuffled(odd, a, d)
		out[4+c], out[12+c] = s.Shuffled(even, b, e), s.Shuffled(odd, b, e)
	}
	return out
}
