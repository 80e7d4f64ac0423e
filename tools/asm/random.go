package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// golden is what SplitMix64 adds to its state for every number, splitMix the multipliers of its output function.
const golden = 0x9e3779b97f4a7c15

var splitMix = [2]uint64{0xbf58476d1ce4e5b9, 0x94d049bb133111eb}

// drop emits the kernel of dropout: values times scale, or times 0 where the upper 24 bits of SplitMix64's number are less than below.
func (s isa) drop() {
	dst, src, n := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("n"), GP64())
	below, scale := s.v(), s.v()
	bound := XMM()
	VMOVD(Load(Param("below"), GP32()), bound)
	VPBROADCASTD(bound, below)
	VBROADCASTSS(paramAt("scale"), scale)
	half := s.w / 2
	states := [2]reg.VecVirtual{s.v(), s.v()}
	for i := range states {
		VPBROADCASTQ(paramAt("state"), states[i])
		VPADDQ(s.quads(func(lane int) uint64 { return uint64(i*half+lane) * golden }), states[i], states[i])
	}
	step := s.load(s.quads(func(int) uint64 { return uint64(s.w) * golden }))
	var factors [2][2]reg.VecVirtual
	for i, m := range splitMix {
		factors[i] = [2]reg.VecVirtual{s.load(s.quads(func(int) uint64 { return m })), s.load(s.quads(func(int) uint64 { return m >> 32 }))}
	}
	align(32)
	Label("loop")
	var numbers [2]reg.VecVirtual
	for i, state := range states {
		z := s.load(state)
		s.mix(z, 30)
		z = s.product(z, factors[0])
		s.mix(z, 27)
		z = s.product(z, factors[1])
		s.mix(z, 31)
		VPSRLQ(Imm(40), z, z)
		numbers[i] = z
		VPADDQ(step, state, state)
	}
	factor := s.v()
	if s.w == 16 {
		low, high, keep := YMM(), YMM(), K()
		VPMOVQD(numbers[0], low)
		VPMOVQD(numbers[1], high)
		all := ZMM()
		VINSERTI64X4(Imm(1), high, low.AsZ(), all)
		VPCMPUD(Imm(5), below, all, keep) // all >= below
		VMOVAPS_Z(scale, keep, factor)
	} else {
		all := s.v()
		VSHUFPS(Imm(0x88), numbers[1], numbers[0], all)
		VPERMQ(Imm(0xd8), all, all)
		VPCMPGTD(all, below, all) // below > all
		VPANDN(scale, all, factor)
	}
	VMULPS(Mem{Base: src}, factor, factor)
	VMOVUPS(factor, Mem{Base: dst})
	ADDQ(U32(uint32(4*s.w)), src)
	ADDQ(U32(uint32(4*s.w)), dst)
	SUBQ(U32(uint32(s.w)), n)
	JNE(LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// mix is z ^= z >> n, of numbers of 64 bits.
func (s isa) mix(z reg.VecVirtual, n uint64) {
	t := s.v()
	VPSRLQ(Imm(n), z, t)
	if s.w == 16 {
		VPXORQ(t, z, z)
	} else {
		VPXOR(t, z, z)
	}
}

// product multiplies numbers of 64 bits with one, of which there are the lower and the upper halves.
func (s isa) product(z reg.VecVirtual, factor [2]reg.VecVirtual) reg.VecVirtual {
	low, middle, high := s.v(), s.v(), s.v()
	VPMULUDQ(z, factor[0], low)
	VPMULUDQ(z, factor[1], middle)
	VPSRLQ(Imm(32), z, high)
	VPMULUDQ(high, factor[0], high)
	VPADDQ(high, middle, middle)
	VPSLLQ(Imm(32), middle, middle)
	VPADDQ(middle, low, low)
	return low
}

// quads is a constant vector in memory of numbers of 64 bits.
func (s isa) quads(value func(lane int) uint64) Mem {
	name := fmt.Sprintf("q%d_%016x_%016x", s.w, value(0), value(1))
	if m, ok := consts[name]; ok {
		return m
	}
	m := GLOBL(name, attr.RODATA|attr.NOPTR)
	for i := range s.w / 2 {
		DATA(8*i, U64(value(i)))
	}
	consts[name] = m
	return m
}
