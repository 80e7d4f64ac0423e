package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Predicates of VCMPPS that treat NaN as pooling does.
const (
	cmpOrdered   = 0x07
	cmpNotAtMost = 0x16 // greater, or one is NaN
)

// taps emits a loop over a window for up to w outputs of a row that are stride inputs apart: start gets the first input of
// every window, next each further one, and row is called after each row of the window.
func (s isa) taps(stride int, start, next func(x reg.VecVirtual), row func()) {
	src := Load(Param("src"), GP64())
	kh := Load(Param("kh"), GP64())
	kw := Load(Param("kw"), GP64())
	ld := Load(Param("ld"), GP64())
	n := Load(Param("n"), GP64())
	words := Load(Param("words"), GP64())
	SHLQ(Imm(2), ld)
	load := s.stridedLoader(stride, n, words)
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
func (s isa) stridedLoader(stride int, n, words reg.Register) func(Mem) reg.VecVirtual {
	table := func(n reg.Register) reg.Register {
		at, offset := GP64(), GP64()
		MOVQ(n, offset)
		NEGQ(offset)
		LEAQ(Mem{Base: words, Index: offset, Scale: 4}, at)
		return s.mask(at)
	}
	if stride == 1 {
		mask := table(n)
		return func(m Mem) reg.VecVirtual { return s.loadMasked(m, mask) }
	}
	width, zero := GP64(), GP64()
	MOVQ(U32(s.w), width)
	XORQ(zero, zero)
	first, second := GP64(), GP64()
	LEAQ(Mem{Base: n, Index: n, Scale: 1, Disp: -1}, first)
	MOVQ(first, second)
	SUBQ(width, second)
	CMOVQLT(zero, second)
	CMPQ(first, width)
	CMOVQGT(width, first)
	lo, hi := table(first), table(second)
	var even reg.VecVirtual
	if s.w == 16 {
		even = s.load(s.ramp(2))
	}
	return func(m Mem) reg.VecVirtual {
		a, b := s.loadMasked(m, lo), s.loadMasked(m.Offset(4*s.w), hi)
		if s.w == 16 {
			VPERMT2PS(b, even, a)
			return a
		}
		VSHUFPS(Imm(0x88), b, a, a)
		VPERMPD(Imm(0xd8), a, a)
		return a
	}
}

// ramp is the constant vector 0, step, 2*step, ...
func (s isa) ramp(step int) Mem { return s.sequence(0, step) }

// words is a constant vector of integers.
func (s isa) words(name string, value func(lane int) int) Mem {
	if m, ok := consts[name]; ok {
		return m
	}
	m := GLOBL(name, attr.RODATA|attr.NOPTR)
	for i := range s.w {
		DATA(4*i, U32(value(i)))
	}
	consts[name] = m
	return m
}

// maxPool emits the maxima of n windows of a row and their indices; index is that of the first input, w the width of a plane.
func (s isa) maxPool(stride int) {
	value, best := s.v(), s.v()
	line, at, one, width := s.v(), s.v(), s.load(s.bits(1)), s.v()
	s.broadcast("w", width)
	s.broadcast("index", line)
	VPADDD(s.ramp(stride), line, line)
	s.taps(stride,
		func(x reg.VecVirtual) {
			VMOVUPS(x, value)
			VMOVUPS(line, best)
			VPADDD(one, line, at)
		},
		func(x reg.VecVirtual) {
			s.keepLarger(x, at, value, best)
			VPADDD(one, at, at)
		},
		func() {
			VPADDD(width, line, line)
			VMOVUPS(line, at)
		})
	s.storePool(value, "dst")
	s.storePool(best, "mask")
	VZEROUPPER()
	RET()
}

// keepLarger replaces value and best by x and at where x is larger, or the first NaN.
func (s isa) keepLarger(x reg.VecVirtual, at Op, value, best reg.VecVirtual) {
	if s.w == 16 {
		larger, number := K(), K()
		VCMPPS(Imm(cmpOrdered), value, value, number)
		VCMPPS(Imm(cmpNotAtMost), value, x, number, larger)
		VBLENDMPS(x, value, larger, value)
		VPBLENDMD(at, best, larger, best)
		return
	}
	larger, number := s.v(), s.v()
	VCMPPS(Imm(cmpOrdered), value, value, number)
	VCMPPS(Imm(cmpNotAtMost), value, x, larger)
	VANDPS(number, larger, larger)
	VBLENDVPS(larger, x, value, value)
	VBLENDVPS(larger, at, best, best)
}

// avePool emits the sums of n windows of a row over a divisor.
func (s isa) avePool(stride int) {
	sum := s.v()
	s.taps(stride,
		func(x reg.VecVirtual) { VMOVUPS(x, sum) },
		func(x reg.VecVirtual) { VADDPS(x, sum, sum) },
		func() {})
	divisor := s.v()
	d, err := Param("divisor").Resolve()
	if err != nil {
		panic(err)
	}
	VBROADCASTSS(d.Addr, divisor)
	VDIVPS(divisor, sum, sum)
	s.storePool(sum, "dst")
	VZEROUPPER()
	RET()
}

func (s isa) broadcast(param string, v reg.VecVirtual) {
	x := XMM()
	VMOVD(Load(Param(param), GP64()).(reg.GPVirtual).As32(), x)
	VPBROADCASTD(x, v)
}

// storePool stores the first n lanes.
func (s isa) storePool(v reg.VecVirtual, param string) {
	at, n, words := Load(Param(param), GP64()), Load(Param("n"), GP64()), Load(Param("words"), GP64())
	NEGQ(n)
	from := GP64()
	LEAQ(Mem{Base: words, Index: n, Scale: 4}, from)
	s.storeMasked(v, Mem{Base: at}, s.mask(from))
}
