package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// scalars broadcasts the float32 values that a parameter points to.
func (s isa) scalars(param string, n int) []Op {
	p := Load(Param(param), GP64())
	vs := make([]Op, n)
	for i := range vs {
		vs[i] = s.v()
		VBROADCASTSS(Mem{Base: p, Disp: 4 * i}, vs[i])
	}
	return vs
}

// eachVector emits a loop over n values, n a multiple of the vector width; body gets the index register.
func (s isa) eachVector(body func(at reg.GPVirtual)) {
	n, at := Load(Param("n"), GP64()), GP64()
	XORQ(at, at)
	Label("loop")
	CMPQ(at, n)
	JGE(LabelRef("done"))
	body(at)
	ADDQ(U32(s.w), at)
	JMP(LabelRef("loop"))
	Label("done")
}

// doubles converts the halves of a vector to float64.
func (s isa) doubles(x reg.VecVirtual) (lo, hi reg.VecVirtual) {
	lo, hi = s.v(), s.v()
	if s.w == 16 {
		upper := YMM()
		VEXTRACTF64X4(Imm(1), x, upper)
		VCVTPS2PD(x.AsY(), lo)
		VCVTPS2PD(upper, hi)
		return lo, hi
	}
	upper := XMM()
	VEXTRACTF128(Imm(1), x, upper)
	VCVTPS2PD(x.AsX(), lo)
	VCVTPS2PD(upper, hi)
	return lo, hi
}

// zeros returns n registers of zeros.
func (s isa) zeros(n int) []reg.VecVirtual {
	vs := make([]reg.VecVirtual, n)
	for i := range vs {
		vs[i] = s.v()
		if s.w == 16 {
			VPXORQ(vs[i], vs[i], vs[i])
		} else {
			VXORPD(vs[i], vs[i], vs[i])
		}
	}
	return vs
}

// storeSums adds up pairs of float64 registers and stores the results one behind the other.
func (s isa) storeSums(out reg.Register, pairs ...reg.VecVirtual) {
	for i := 0; i < len(pairs); i += 2 {
		VADDPD(pairs[i+1], pairs[i], pairs[i])
		VMOVUPD(pairs[i], Mem{Base: out, Disp: i / 2 * 4 * s.w})
	}
}

// chain returns xn and v of simd.Normal, of which p are the constants.
func (s isa) chain(x Op, p []Op) (xn, y reg.VecVirtual) {
	xn = s.mul(s.sub(x, p[0]), p[1])
	return xn, s.fma(xn, p[2], p[3])
}

// moments emits Σ x and Σ (x-pivot)², in float64 lanes.
func (s isa) moments() {
	p := s.scalars("pivot", 1)
	x := Load(Param("x"), GP64())
	acc := s.zeros(4)
	s.eachVector(func(at reg.GPVirtual) { s.addMoments(acc, s.load(Mem{Base: x, Index: at, Scale: 4}), p[0]) })
	s.storeSums(Load(Param("out"), GP64()), acc...)
	s.ret()
}

// addMoments adds x to the halves of the first sum, and (x-pivot)² to those of the second.
func (s isa) addMoments(acc []reg.VecVirtual, x reg.VecVirtual, pivot Op) {
	lo, hi := s.doubles(x)
	VADDPD(lo, acc[0], acc[0])
	VADDPD(hi, acc[1], acc[1])
	lo, hi = s.doubles(s.sub(x, pivot))
	VFMADD231PD(lo, lo, acc[2])
	VFMADD231PD(hi, hi, acc[3])
}

// normalise emits y of simd.Normal.
func (s isa) normalise() {
	p := s.scalars("p", 5)
	x := Load(Param("x"), GP64())
	y := Load(Param("y"), GP64())
	s.eachVector(func(at reg.GPVirtual) {
		VMOVUPS(s.rectified(Mem{Base: x, Index: at, Scale: 4}, p), Mem{Base: y, Index: at, Scale: 4})
	})
	s.ret()
}

// normaliseSums emits Σ g*xn and Σ g, in float64 lanes.
func (s isa) normaliseSums() {
	p := s.scalars("p", 5)
	x := Load(Param("x"), GP64())
	dy := Load(Param("dy"), GP64())
	acc := s.zeros(4)
	s.eachVector(func(at reg.GPVirtual) {
		mem := Mem{Index: at, Scale: 4}
		xn, g := s.rectifiedGrad(based(mem, dy), based(mem, x), p)
		s.sumGradient(acc, xn, g)
	})
	s.storeSums(Load(Param("out"), GP64()), acc...)
	s.ret()
}

// normaliseGrad emits A*g + B + C*xn.
func (s isa) normaliseGrad() {
	p := s.scalars("p", 8)
	x := Load(Param("x"), GP64())
	dy := Load(Param("dy"), GP64())
	dx := Load(Param("dx"), GP64())
	s.eachVector(func(at reg.GPVirtual) {
		mem := Mem{Index: at, Scale: 4}
		xn, g := s.rectifiedGrad(based(mem, dy), based(mem, x), p)
		VMOVUPS(s.fma(xn, p[7], s.fma(g, p[5], p[6])), based(mem, dx))
	})
	s.ret()
}

// rectifiedGrad returns xn and g: dy, times the slope where y is not above 0.
func (s isa) rectifiedGrad(dy, x Mem, p []Op) (xn, g reg.VecVirtual) {
	xn, y := s.chain(s.load(x), p)
	g = s.load(dy)
	return xn, s.sel(cmpGT, y, s.f(0), g, s.mul(g, p[4]))
}

// rectified returns y of simd.Normal.
func (s isa) rectified(x Mem, p []Op) reg.VecVirtual {
	_, v := s.chain(s.load(x), p)
	return s.sel(cmpLT, v, s.f(0), s.mul(v, p[4]), v)
}

// sumGradient adds g*xn to the halves of the first sum, and g to those of the second.
func (s isa) sumGradient(acc []reg.VecVirtual, xn, g reg.VecVirtual) {
	xlo, xhi := s.doubles(xn)
	lo, hi := s.doubles(g)
	VFMADD231PD(lo, xlo, acc[0])
	VFMADD231PD(hi, xhi, acc[1])
	VADDPD(lo, acc[2], acc[2])
	VADDPD(hi, acc[3], acc[3])
}

// based is a memory operand with another base.
func based(m Mem, base reg.Register) Mem {
	m.Base = base
	return m
}

func (s isa) ret() {
	VZEROUPPER()
	RET()
}
