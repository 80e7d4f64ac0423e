package vpool

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// Predicates of VCMPPS that treat NaN as pooling does.
const (
	cmpOrdered   = 0x07
	cmpNotAtMost = 0x16 // greater, or one is NaN
)

// taps emits a loop over a window for up to w outputs of a row that are stride inputs apart: start gets the first input of
// every window, next each further one, and row is called after each row of the window.
func taps(s emit.ISA, stride int, start, next func(x reg.VecVirtual), row func()) {
	src := emit.GP("src")
	kh := emit.GP("kh")
	kw := emit.GP("kw")
	ld := emit.GP("ld")
	n := emit.GP("n")
	words := emit.GP("words")
	SHLQ(Imm(2), ld)
	load := stridedLoader(s, stride, n, words)
	start(load(Mem{Base: src}))
	left, at := GP64(), GP64()
	MOVQ(src, at)
	MOVQ(kw, left)
	JMP(LabelRef("step"))
	Label("line")
	MOVQ(src, at)
	MOVQ(kw, left)
	Label("tap")
	next(load(Mem{Base: at}))
	Label("step")
	ADDQ(Imm(4), at)
	DECQ(left)
	JNE(LabelRef("tap"))
	row()
	ADDQ(ld, src)
	DECQ(kh)
	JNE(LabelRef("line"))
}

// stridedLoader returns a function that loads n inputs, 1 or 2 apart, without reading beyond the last.
func stridedLoader(s emit.ISA, stride int, n, words reg.Register) func(Mem) reg.VecVirtual {
	table := func(n reg.Register) reg.Register {
		at, offset := GP64(), GP64()
		MOVQ(n, offset)
		NEGQ(offset)
		LEAQ(Mem{Base: words, Index: offset, Scale: 4}, at)
		return s.Mask(at)
	}
	if stride == 1 {
		mask := table(n)
		return func(m Mem) reg.VecVirtual { return s.LoadMasked(m, mask) }
	}
	width, zero := GP64(), GP64()
	MOVQ(U32(s.Width), width)
	XORQ(zero, zero)
	first, second := GP64(), GP64()
	LEAQ(Mem{Base: n, Index: n, Scale: 1, Disp: -1}, first)
	MOVQ(first, second)
	SUBQ(width, second)
	CMOVQLT(zero, second)
	CMPQ(first, width)
	CMOVQGT(width, first)
	lo, hi := table(first), table(second)
	even := s.Evens()
	return func(m Mem) reg.VecVirtual {
		return even(s.LoadMasked(m, lo), s.LoadMasked(m.Offset(4*s.Width), hi))
	}
}

// MaxPool emits the maxima of n windows of a row and their indices; index is that of the first input, w the width of a plane.
func MaxPool(s emit.ISA, stride int) {
	value, best := s.V(), s.V()
	line, at, one, width := s.V(), s.V(), s.Load(s.Bits(1)), s.V()
	s.Broadcast("w", width)
	s.Broadcast("index", line)
	VPADDD(s.Ramp(stride), line, line)
	taps(s, stride,
		func(x reg.VecVirtual) {
			VMOVUPS(x, value)
			VMOVUPS(line, best)
			VPADDD(one, line, at)
		},
		func(x reg.VecVirtual) {
			keepLarger(s, x, at, value, best)
			VPADDD(one, at, at)
		},
		func() {
			VPADDD(width, line, line)
			VMOVUPS(line, at)
		})
	storePool(s, value, "dst")
	storePool(s, best, "mask")
	s.Ret()
}

// keepLarger replaces value and best by x and at where x is larger, or the first NaN.
func keepLarger(s emit.ISA, x reg.VecVirtual, at Op, value, best reg.VecVirtual) {
	if s.EVEX {
		larger, number := K(), K()
		VCMPPS(Imm(cmpOrdered), value, value, number)
		VCMPPS(Imm(cmpNotAtMost), value, x, number, larger)
		VBLENDMPS(x, value, larger, value)
		VPBLENDMD(at, best, larger, best)
		return
	}
	larger, number := s.V(), s.V()
	VCMPPS(Imm(cmpOrdered), value, value, number)
	VCMPPS(Imm(cmpNotAtMost), value, x, larger)
	VANDPS(number, larger, larger)
	VBLENDVPS(larger, x, value, value)
	VBLENDVPS(larger, at, best, best)
}

// AvePool emits the sums of n windows of a row over a divisor.
func AvePool(s emit.ISA, stride int) {
	sum := s.V()
	taps(s, stride,
		func(x reg.VecVirtual) { VMOVUPS(x, sum) },
		func(x reg.VecVirtual) { VADDPS(x, sum, sum) },
		func() {})
	divisor := s.Constant("divisor")
	VDIVPS(divisor, sum, sum)
	storePool(s, sum, "dst")
	s.Ret()
}

// storePool stores the first n lanes.
func storePool(s emit.ISA, v reg.VecVirtual, param string) {
	at, n, words := emit.GP(param), emit.GP("n"), emit.GP("words")
	NEGQ(n)
	from := GP64()
	LEAQ(Mem{Base: words, Index: n, Scale: 4}, from)
	s.StoreMasked(v, Mem{Base: at}, s.Mask(from))
}
