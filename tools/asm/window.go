package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// larger emits the kernel that keeps the larger of value[i] and x[i], of equals value[i], with its code.
func (s isa) larger() {
	s.text("larger", "value *float32, code *int32, x *float32, from *int32, n int", "keeps the larger of value and x, with its code.")
	value, code, x, from := Load(Param("value"), GP64()), Load(Param("code"), GP64()), Load(Param("x"), GP64()), Load(Param("from"), GP64())
	s.eachVector(func(at reg.GPVirtual) {
		v, best := s.load(Mem{Base: value, Index: at, Scale: 4}), s.load(Mem{Base: code, Index: at, Scale: 4})
		s.keepLarger(s.load(Mem{Base: x, Index: at, Scale: 4}), s.load(Mem{Base: from, Index: at, Scale: 4}), v, best)
		VMOVUPS(v, Mem{Base: value, Index: at, Scale: 4})
		VMOVUPS(best, Mem{Base: code, Index: at, Scale: 4})
	})
	s.ret()
}

// evens emits the kernel that copies every other value.
func (s isa) evens() {
	s.text("evens", "dst, src *float32, n int", "copies every other value, n of them.")
	dst, src := Load(Param("dst"), GP64()), Load(Param("src"), GP64())
	var even reg.VecVirtual
	if s.w == 16 {
		even = s.load(s.ramp(2))
	}
	s.eachVector(func(at reg.GPVirtual) {
		a, b := s.load(Mem{Base: src, Index: at, Scale: 8}), s.load(Mem{Base: src, Index: at, Scale: 8, Disp: 4 * s.w})
		if s.w == 16 {
			VPERMT2PS(b, even, a)
		} else {
			VSHUFPS(Imm(0x88), b, a, a)
			VPERMPD(Imm(0xd8), a, a)
		}
		VMOVUPS(a, Mem{Base: dst, Index: at, Scale: 4})
	})
	s.ret()
}
