package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// columnSums emits the sums of columns in float64, to which a row of n values adds, n a multiple of the vector width.
func (s isa) columnSums() { s.column(func(sum, x, _ reg.VecVirtual) { VADDPD(x, sum, sum) }) }

// columnProducts emits the same of products.
func (s isa) columnProducts() { s.column(func(sum, x, y reg.VecVirtual) { VFMADD231PD(x, y, sum) }) }

// columnSquares emits the same of squared differences.
func (s isa) columnSquares() {
	s.column(func(sum, x, y reg.VecVirtual) {
		VSUBPD(y, x, x)
		VFMADD231PD(x, x, sum)
	})
}

// column emits the loop of these three; add adds half a vector to its sums.
func (s isa) column(add func(sum, x, y reg.VecVirtual)) {
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
