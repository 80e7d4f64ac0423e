package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// columnSums emits the sums of columns in float64, to which a row of n values adds, n a multiple of the vector width.
func (s isa) columnSums() {
	s.column("columnSums", "adds x to sums.", func(sum, x, _ reg.VecVirtual) { VADDPD(x, sum, sum) })
	s.column("columnProducts", "adds x*y to sums.", func(sum, x, y reg.VecVirtual) { VFMADD231PD(x, y, sum) })
	s.column("columnSquares", "adds (x-y)^2 to sums.", func(sum, x, y reg.VecVirtual) {
		VSUBPD(y, x, x)
		VFMADD231PD(x, x, sum)
	})
}

func (s isa) column(name, doc string, add func(sum, x, y reg.VecVirtual)) {
	s.text(name, "sums *float64, x, y *float32, n int", doc)
	sums, x, y := Load(Param("sums"), GP64()), Load(Param("x"), GP64()), Load(Param("y"), GP64())
	s.eachVector(func(at reg.GPVirtual) {
		var xs, ys [2]reg.VecVirtual
		xs[0], xs[1] = s.doubles(s.load(Mem{Base: x, Index: at, Scale: 4}))
		ys[0], ys[1] = s.doubles(s.load(Mem{Base: y, Index: at, Scale: 4}))
		for half := range xs {
			m := Mem{Base: sums, Index: at, Scale: 8, Disp: half * 4 * s.w}
			sum := s.load(m)
			add(sum, xs[half], ys[half])
			VMOVUPD(sum, m)
		}
	})
	s.ret()
}
