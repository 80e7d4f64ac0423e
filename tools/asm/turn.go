package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// columnsFetched is how many bytes ahead the lines are fetched that will be turned next.
const columnsFetched = 256

// turn emits dst[j*ldd+i] = src[i*lds+j] for up to 16 rows i and columns j, in registers of 16 lanes. Rows that there are not are
// read as the last one, and columns that there are not are written where the last one is written after them.
func (s isa) turn() {
	dst := Load(Param("dst"), GP64())
	src := Load(Param("src"), GP64())
	ldd := Load(Param("ldd"), GP64())
	lds := Load(Param("lds"), GP64())
	rows := Load(Param("rows"), GP64())
	cols := Load(Param("cols"), GP64())
	words := Load(Param("words"), GP64())
	SHLQ(Imm(2), ldd)
	SHLQ(Imm(2), lds)
	lanes := func(n reg.Register) reg.Register {
		at := GP64()
		MOVQ(n, at)
		NEGQ(at)
		LEAQ(Mem{Base: words, Index: at, Scale: 4}, at)
		return s.mask(at)
	}
	across, down := lanes(cols), lanes(rows)
	zero, step := GP64(), GP64()
	XORQ(zero, zero)
	x := make([]reg.VecVirtual, s.w)
	for i := range x {
		PREFETCHT0(Mem{Base: src, Disp: columnsFetched})
		x[i] = s.loadMasked(Mem{Base: src}, across)
		MOVQ(lds, step)
		CMPQ(rows, Imm(uint64(i+1)))
		CMOVQLE(zero, step)
		ADDQ(step, src)
	}
	x = s.turned(x)
	last := GP64()
	LEAQ(Mem{Base: cols, Disp: -1}, last)
	IMULQ(ldd, last)
	ADDQ(last, dst)
	for j := len(x) - 1; j >= 0; j-- {
		s.storeMasked(x[j], Mem{Base: dst}, down)
		MOVQ(ldd, step)
		CMPQ(cols, Imm(uint64(j)))
		CMOVQLE(zero, step)
		SUBQ(step, dst)
	}
	VZEROUPPER()
	RET()
}

// turned transposes 16 registers of 16 lanes: within quarters of four rows, then the quarters.
func (s isa) turned(x []reg.VecVirtual) []reg.VecVirtual {
	s.turnQuarters(x)
	const even, odd = 0x88, 0xdd
	out := make([]reg.VecVirtual, 16)
	for c := range 4 {
		a, b := s.shuffled(even, x[c], x[4+c]), s.shuffled(odd, x[c], x[4+c])
		d, e := s.shuffled(even, x[8+c], x[12+c]), s.shuffled(odd, x[8+c], x[12+c])
		out[c], out[8+c] = s.shuffled(even, a, d), s.shuffled(odd, a, d)
		out[4+c], out[12+c] = s.shuffled(even, b, e), s.shuffled(odd, b, e)
	}
	return out
}

// turnQuarters transposes quarters of four registers, for every four registers.
func (s isa) turnQuarters(x []reg.VecVirtual) {
	for i := 0; i < len(x); i += 4 {
		turnFour([4]reg.VecVirtual(x[i:]), s.v, func(j int, column reg.VecVirtual) { x[i+j] = column })
	}
}

// turnFour transposes 4x4 values in every quarter of four registers, with new ones from fresh, and gives each column to use.
func turnFour(x [4]reg.VecVirtual, fresh func() reg.VecVirtual, use func(j int, column reg.VecVirtual)) {
	var t [4]reg.VecVirtual
	for j := range t {
		t[j] = fresh()
	}
	VUNPCKLPS(x[1], x[0], t[0])
	VUNPCKLPS(x[3], x[2], t[1])
	VUNPCKHPS(x[1], x[0], t[2])
	VUNPCKHPS(x[3], x[2], t[3])
	for j := range 4 {
		r := fresh()
		if j%2 == 0 {
			VUNPCKLPD(t[j/2*2+1], t[j/2*2], r)
		} else {
			VUNPCKHPD(t[j/2*2+1], t[j/2*2], r)
		}
		use(j, r)
	}
}
