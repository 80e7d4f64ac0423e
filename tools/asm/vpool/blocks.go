package vpool

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// takenBytes are the bytes of the places of a pixel of a block.
const takenBytes = 16

// Predicates of VCMPPS.
const (
	cmpAtMost     = 0x02
	cmpNotAtLeast = 0x19 // less, or one is NaN
)

// meeting loads an entry of an axis's table, a range of pixels: the first pixel's offset in bytes, the number of pixels, and the first pixel's place.
func meeting(table reg.Register) (at, count, place reg.Register) {
	at, count, place = GP64(), GP64(), GP64()
	MOVQ(Mem{Base: table}, at)
	MOVQ(Mem{Base: table, Disp: 8}, count)
	MOVQ(Mem{Base: table, Disp: 16}, place)
	ADDQ(Imm(24), table)
	return at, count, place
}

// blockWindows emits a loop over the windows of a row of n outputs. columns is their table; the windows have count rows of inputs, ld bytes apart,
// the first at src. first gets a window's first input and its place, next every other input; line follows each row of a window, store each
// window.
func blockWindows(s emit.ISA, first func(x Mem, place reg.Register), next func(x Mem), line, store func()) {
	columns, n := emit.GP("columns"), emit.GP("n")
	Label("output")
	row, across, place := meeting(columns)
	ADDQ(emit.ParamAt("src"), row)
	x, left, down := GP64(), GP64(), GP64()
	MOVQ(row, x)
	MOVQ(across, left)
	MOVQ(emit.ParamAt("count"), down)
	first(Mem{Base: x}, place)
	JMP(LabelRef("step"))
	Label("row")
	MOVQ(row, x)
	MOVQ(across, left)
	Label("tap")
	next(Mem{Base: x})
	Label("step")
	ADDQ(Imm(emit.PixelBytes), x)
	DECQ(left)
	JNE(LabelRef("tap"))
	line()
	ADDQ(emit.ParamAt("ld"), row)
	DECQ(down)
	JNE(LabelRef("row"))
	store()
	DECQ(n)
	JNE(LabelRef("output"))
	s.Ret()
}

// MaxBlocks emits the maxima of windows and their places. places are the places of the first row of windows, those of the next row
// are wide bytes on. Maxima up to the limit become 0 and get the code of no place. The loop handles all vectors of a pixel together, since each
// comparison of a vector depends on the one before.
func MaxBlocks(s emit.ISA) {
	dst, mask := emit.GP("dst"), emit.GP("mask")
	limit, zero, none := s.Constant("limit"), s.Zero(), s.Load(s.Bits(noneCode))
	value, best := make([]reg.VecVirtual, emit.Lanes/s.Width), make([]reg.VecVirtual, emit.Lanes/s.Width)
	line, at := GP64(), GP64()
	blockWindows(s, func(x Mem, place reg.Register) {
		MOVQ(emit.ParamAt("places"), line)
		LEAQ(Mem{Base: line, Index: place, Scale: 4}, line)
		for g := range value {
			value[g], best[g] = s.Load(x.Offset(4*s.Width*g)), s.V()
			VPBROADCASTD(Mem{Base: line}, best[g])
		}
		LEAQ(Mem{Base: line, Disp: 4}, at)
	}, func(x Mem) {
		for g := range value {
			keepLargerAt(s, x.Offset(4*s.Width*g), Mem{Base: at}, value[g], best[g])
		}
		ADDQ(Imm(4), at)
	}, func() {
		ADDQ(emit.ParamAt("wide"), line)
		MOVQ(line, at)
	}, func() {
		for g := range value {
			clearUpTo(s, limit, zero, none, value[g], best[g])
			VMOVUPS(value[g], Mem{Base: dst, Disp: 4 * s.Width * g})
			storeBytes(s, best[g], Mem{Base: mask, Disp: s.Width * g})
		}
		ADDQ(Imm(emit.PixelBytes), dst)
		ADDQ(Imm(takenBytes), mask)
	})
}

// keepLargerAt is keepLarger for values in memory that have the same place.
func keepLargerAt(s emit.ISA, x, place Mem, value, best reg.VecVirtual) {
	if !s.EVEX {
		at := s.V()
		VPBROADCASTD(place, at)
		keepLarger(s, s.Load(x), at, value, best)
		return
	}
	larger, number := K(), K()
	VCMPPS(Imm(cmpOrdered), value, value, number)
	VCMPPS(Imm(cmpNotAtLeast), x, value, number, larger)
	VMOVUPS(x, larger, value)
	VPBROADCASTD(place, larger, best)
}

// clearUpTo replaces values up to a limit and their places.
func clearUpTo(s emit.ISA, limit, zero, none, value, best reg.VecVirtual) {
	if s.EVEX {
		cleared := K()
		VCMPPS(Imm(cmpAtMost), limit, value, cleared)
		VMOVAPS(zero, cleared, value)
		VMOVDQA32(none, cleared, best)
		return
	}
	cleared := s.V()
	VCMPPS(Imm(cmpAtMost), limit, value, cleared)
	VBLENDVPS(cleared, zero, value, value)
	VBLENDVPS(cleared, none, best, best)
}

// storeBytes stores the lowest byte of each lane, all others being 0.
func storeBytes(s emit.ISA, v reg.VecVirtual, m Mem) {
	if s.EVEX {
		VPMOVDB(v, m)
		return
	}
	if s.Width == 4 {
		VPACKUSDW(v, v, v)
		VPACKUSWB(v, v, v)
		VMOVD(v, m)
		return
	}
	lo, hi := v.AsX(), XMM()
	VEXTRACTI128(Imm(1), v, hi)
	VPACKUSDW(hi, lo, hi)
	VPACKUSWB(hi, hi, hi)
	VMOVQ(hi, m)
}

// AveBlocks emits the means of windows, the sums of their rows being added up. divisors has a vector for each output.
func AveBlocks(s emit.ISA) {
	dst, divisors := emit.GP("dst"), emit.GP("divisors")
	sum, line := s.V(), s.V()
	blockWindows(s, func(x Mem, _ reg.Register) {
		s.Clear(sum)
		VMOVUPS(x, line)
	}, func(x Mem) {
		VADDPS(x, line, line)
	}, func() {
		VADDPS(line, sum, sum)
		s.Clear(line)
	}, func() {
		VDIVPS(Mem{Base: divisors}, sum, sum)
		VMOVUPS(sum, Mem{Base: dst})
		ADDQ(Imm(emit.PixelBytes), dst)
		ADDQ(Imm(emit.PixelBytes), divisors)
	})
}
