package vec

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// golden is the increment of SplitMix64's state, splitMix the multipliers of its output function.
const golden = 0x9e3779b97f4a7c15

var splitMix = [2]uint64{0xbf58476d1ce4e5b9, 0x94d049bb133111eb}

// Drop emits the kernel of dropout: values times scale, or times 0 where the upper 24 bits of SplitMix64's number are less than below.
func Drop(s emit.ISA) {
	dst, src, n := emit.GP("dst"), emit.GP("src"), emit.GP("n")
	below, scale := s.V(), s.V()
	bound := XMM()
	VMOVD(Load(Param("below"), GP32()), bound)
	VPBROADCASTD(bound, below)
	VBROADCASTSS(emit.ParamAt("scale"), scale)
	half := s.Width / 2
	states := [2]reg.VecVirtual{s.V(), s.V()}
	for i := range states {
		VPBROADCASTQ(emit.ParamAt("state"), states[i])
		VPADDQ(s.Quads(func(lane int) uint64 { return uint64(i*half+lane) * golden }), states[i], states[i])
	}
	step := s.Load(s.Quads(func(int) uint64 { return uint64(s.Width) * golden }))
	var factors [2][2]reg.VecVirtual
	for i, m := range splitMix {
		factors[i] = [2]reg.VecVirtual{s.Load(s.Quads(func(int) uint64 { return m })), s.Load(s.Quads(func(int) uint64 { return m >> 32 }))}
	}
	emit.Align(32)
	Label("loop")
	var numbers [2]reg.VecVirtual
	for i, state := range states {
		z := s.Load(state)
		mix(s, z, 30)
		z = product(s, z, factors[0])
		mix(s, z, 27)
		z = product(s, z, factors[1])
		mix(s, z, 31)
		VPSRLQ(Imm(40), z, z)
		numbers[i] = z
		VPADDQ(step, state, state)
	}
	factor := s.V()
	if s.EVEX {
		low, high, keep := YMM(), YMM(), K()
		VPMOVQD(numbers[0], low)
		VPMOVQD(numbers[1], high)
		all := ZMM()
		VINSERTI64X4(Imm(1), high, low.AsZ(), all)
		VPCMPUD(Imm(5), below, all, keep) // all >= below
		VMOVAPS_Z(scale, keep, factor)
	} else {
		all := s.V()
		VSHUFPS(Imm(0x88), numbers[1], numbers[0], all)
		if s.Width > 4 {
			VPERMQ(Imm(0xd8), all, all)
		}
		VPCMPGTD(all, below, all) // below > all
		VPANDN(scale, all, factor)
	}
	VMULPS(Mem{Base: src}, factor, factor)
	VMOVUPS(factor, Mem{Base: dst})
	ADDQ(U32(uint32(4*s.Width)), src)
	ADDQ(U32(uint32(4*s.Width)), dst)
	SUBQ(U32(uint32(s.Width)), n)
	JNE(LabelRef("loop"))
	s.Ret()
}

// mix is z ^= z >> n for 64-bit integers.
func mix(s emit.ISA, z reg.VecVirtual, n uint64) {
	t := s.V()
	VPSRLQ(Imm(n), z, t)
	if s.EVEX {
		VPXORQ(t, z, z)
	} else {
		VPXOR(t, z, z)
	}
}

// product multiplies 64-bit integers by a factor, which is given in a lower and an upper half.
func product(s emit.ISA, z reg.VecVirtual, factor [2]reg.VecVirtual) reg.VecVirtual {
	low, middle, high := s.V(), s.V(), s.V()
	VPMULUDQ(z, factor[0], low)
	VPMULUDQ(z, factor[1], middle)
	VPSRLQ(Imm(32), z, high)
	VPMULUDQ(high, factor[0], high)
	VPADDQ(high, middle, middle)
	VPSLLQ(Imm(32), middle, middle)
	VPADDQ(middle, low, low)
	return low
}
