package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const windowArgs = "window *float32, rows, ld, n int, p *float32"

// overWindow emits a loop over n values in which the values above one another in a window of rows, ld apart, are added up,
// squared or not; body gets the sum.
func (s isa) overWindow(squared bool, body func(at reg.GPVirtual, sum reg.VecVirtual)) {
	window, rows, ld := Load(Param("window"), GP64()), Load(Param("rows"), GP64()), Load(Param("ld"), GP64())
	SHLQ(Imm(2), ld)
	s.eachVector(func(at reg.GPVirtual) {
		from, left := GP64(), GP64()
		LEAQ(Mem{Base: window, Index: at, Scale: 4}, from)
		MOVQ(rows, left)
		sum := s.zeros(1)[0]
		Label("row")
		v := s.load(Mem{Base: from})
		if squared {
			VFMADD231PS(v, v, sum)
		} else {
			VADDPS(v, sum, sum)
		}
		ADDQ(ld, from)
		DECQ(left)
		JNE(LabelRef("row"))
		body(at, sum)
	})
}

// invPow75 returns s^-3/4.
func (s isa) invPow75(x reg.VecVirtual) reg.VecVirtual {
	h, q := s.v(), s.v()
	VSQRTPS(x, h)
	VSQRTPS(h, q)
	return s.div(s.load(s.f(1)), s.mul(h, q))
}

// lrn emits the kernels of local response normalisation with exponent 3/4: s = p[1] + p[0] * (sum over the window of x^2).
func (s isa) lrn() {
	s.text("lrn", "y, x *float32, "+windowArgs, "writes x * s^-3/4.")
	p := s.scalars("p", 2)
	x, y := Load(Param("x"), GP64()), Load(Param("y"), GP64())
	s.overWindow(true, func(at reg.GPVirtual, sum reg.VecVirtual) {
		power := s.invPow75(s.fma(sum, p[0], p[1]))
		VMOVUPS(s.mul(power, Mem{Base: x, Index: at, Scale: 4}), Mem{Base: y, Index: at, Scale: 4})
	})
	s.ret()

	s.text("lrnRatio", "q, r, dy, x *float32, "+windowArgs, "writes q = dy * s^-3/4 and r = q * x / s.")
	p = s.scalars("p", 2)
	x = Load(Param("x"), GP64())
	q, r, dy := Load(Param("q"), GP64()), Load(Param("r"), GP64()), Load(Param("dy"), GP64())
	s.overWindow(true, func(at reg.GPVirtual, sum reg.VecVirtual) {
		scale := s.fma(sum, p[0], p[1])
		grad := s.mul(s.invPow75(scale), Mem{Base: dy, Index: at, Scale: 4})
		VMOVUPS(grad, Mem{Base: q, Index: at, Scale: 4})
		VMOVUPS(s.div(s.mul(grad, Mem{Base: x, Index: at, Scale: 4}), scale), Mem{Base: r, Index: at, Scale: 4})
	})
	s.ret()

	s.text("lrnGrad", "dx, x *float32, "+windowArgs, "adds p[0] * x * (sum over the window) to dx.")
	p = s.scalars("p", 1)
	x = Load(Param("x"), GP64())
	dx := Load(Param("dx"), GP64())
	s.overWindow(false, func(at reg.GPVirtual, sum reg.VecVirtual) {
		v := s.load(Mem{Base: dx, Index: at, Scale: 4})
		VFMADD231PS(s.mul(sum, Mem{Base: x, Index: at, Scale: 4}), p[0], v)
		VMOVUPS(v, Mem{Base: dx, Index: at, Scale: 4})
	})
	s.ret()
}
