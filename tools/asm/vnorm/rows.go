package vnorm

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// storeSums adds up pairs of float64 registers and stores the results one behind the other.
func storeSums(s emit.ISA, out reg.Register, pairs ...reg.VecVirtual) {
	for i := 0; i < len(pairs); i += 2 {
		VADDPD(pairs[i+1], pairs[i], pairs[i])
		VMOVUPD(pairs[i], Mem{Base: out, Disp: i / 2 * 4 * s.Width})
	}
}

// chain returns xn and v of a vnorm.Row with the constants p.
func chain(s emit.ISA, x Op, p []Op) (xn, y reg.VecVirtual) {
	xn = s.Mul(s.Sub(x, p[0]), p[1])
	return xn, s.Fma(xn, p[2], p[3])
}

// Moments emits Σ x and Σ (x-pivot)², in float64 lanes.
func Moments(s emit.ISA) {
	p := s.Scalars("pivot", 1)
	x := emit.GP("x")
	acc := s.Zeros(4)
	s.EachVector(func(at reg.GPVirtual) { addMoments(s, acc, s.Load(Mem{Base: x, Index: at, Scale: 4}), p[0]) })
	storeSums(s, emit.GP("out"), acc...)
	s.Ret()
}

// addMoments adds x to the halves of the first sum, and (x-pivot)² to those of the second.
func addMoments(s emit.ISA, acc []reg.VecVirtual, x reg.VecVirtual, pivot Op) {
	lo, hi := s.Doubles(x)
	VADDPD(lo, acc[0], acc[0])
	VADDPD(hi, acc[1], acc[1])
	lo, hi = s.Doubles(s.Sub(x, pivot))
	VFMADD231PD(lo, lo, acc[2])
	VFMADD231PD(hi, hi, acc[3])
}

// Normalise emits y of a vnorm.Row.
func Normalise(s emit.ISA) {
	p := s.Scalars("p", 5)
	x := emit.GP("x")
	y := emit.GP("y")
	s.EachVector(func(at reg.GPVirtual) {
		VMOVUPS(rectified(s, Mem{Base: x, Index: at, Scale: 4}, p), Mem{Base: y, Index: at, Scale: 4})
	})
	s.Ret()
}

// NormaliseSums emits Σ g*xn and Σ g, in float64 lanes.
func NormaliseSums(s emit.ISA) {
	p := s.Scalars("p", 5)
	x := emit.GP("x")
	dy := emit.GP("dy")
	acc := s.Zeros(4)
	s.EachVector(func(at reg.GPVirtual) {
		mem := Mem{Index: at, Scale: 4}
		xn, g := rectifiedGrad(s, emit.Based(mem, dy), emit.Based(mem, x), p)
		sumGradient(s, acc, xn, g)
	})
	storeSums(s, emit.GP("out"), acc...)
	s.Ret()
}

// NormaliseGrad emits A*g + B + C*xn.
func NormaliseGrad(s emit.ISA) {
	p := s.Scalars("p", 8)
	x := emit.GP("x")
	dy := emit.GP("dy")
	dx := emit.GP("dx")
	s.EachVector(func(at reg.GPVirtual) {
		mem := Mem{Index: at, Scale: 4}
		xn, g := rectifiedGrad(s, emit.Based(mem, dy), emit.Based(mem, x), p)
		VMOVUPS(s.Fma(xn, p[7], s.Fma(g, p[5], p[6])), emit.Based(mem, dx))
	})
	s.Ret()
}

// rectifiedGrad returns xn and g: dy, times the slope where y is not above 0.
func rectifiedGrad(s emit.ISA, dy, x Mem, p []Op) (xn, g reg.VecVirtual) {
	xn, y := chain(s, s.Load(x), p)
	g = s.Load(dy)
	return xn, s.Sel(emit.GT, y, s.F(0), g, s.Mul(g, p[4]))
}

// rectified returns y of a vnorm.Row.
func rectified(s emit.ISA, x Mem, p []Op) reg.VecVirtual {
	_, v := chain(s, s.Load(x), p)
	return s.Sel(emit.LT, v, s.F(0), s.Mul(v, p[4]), v)
}

// sumGradient adds g*xn to the halves of the first sum, and g to those of the second.
func sumGradient(s emit.ISA, acc []reg.VecVirtual, xn, g reg.VecVirtual) {
	xlo, xhi := s.Doubles(xn)
	lo, hi := s.Doubles(g)
	VFMADD231PD(lo, xlo, acc[0])
	VFMADD231PD(hi, xhi, acc[1])
	VADDPD(lo, acc[2], acc[2])
	VADDPD(hi, acc[3], acc[3])
}
