// Package emit holds what the generators of all packages of internal/base/simd share.
//
// An ISA is an instruction set. Its methods emit the operations whose instructions differ between sets: arithmetic on vectors, constants in
// memory, masked loads and stores, loops over vectors, conversions to float64, transposition in registers, and the tiles of micro-kernels.
// Generators are written once for all sets. Where one differs it asks for what the set has: how many registers, or EVEX.
package emit

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Clear sets a register to 0.
func (s ISA) Clear(v reg.VecVirtual) {
	if s.EVEX {
		VPXORD(v, v, v)
	} else {
		VXORPS(v, v, v)
	}
}

func (s ISA) Ret() {
	VZEROUPPER()
	RET()
}

func (s ISA) Zero() reg.VecVirtual {
	r := s.V()
	s.Clear(r)
	return r
}

// ISA is an instruction set with vectors.
type ISA struct {
	Name, Tag string                // in the names of files, and behind those of functions
	Processor string                // Go's name of the processors that have it
	Width     int                   // float32 values of a vector
	Registers int                   // vector registers
	EVEX      bool                  // mask registers, operands broadcast from memory, permutations of two registers, more bits of precision of 1/√x
	V         func() reg.VecVirtual // a fresh vector register; nil if the assembly is written by hand
	Elements  bool                  // products with one lane of a register; masked stores of whole vectors are as fast as others
}

// The instruction sets.
var (
	AVX512 = ISA{Name: "avx512", Tag: "AVX512", Processor: "amd64", Width: 16, Registers: 32, EVEX: true, V: ZMM}
	AVX2   = ISA{Name: "avx2", Tag: "AVX2", Processor: "amd64", Width: 8, Registers: 16, V: YMM}
	// Package arm64 replaces AVX2's instructions on XMM registers.
	NEON = ISA{Name: "neon", Tag: "NEON", Processor: "arm64", Width: 4, Registers: 32, V: func() reg.VecVirtual { return XMM() }, Elements: true}
)

// Function emits a function of assembly with the parameters args, which body loads.
func (s ISA) Function(name, args string, body func()) {
	stores = 0
	TEXT(name+s.Tag, NOSPLIT, "func("+args+")")
	Pragma("noescape")
	body()
}

// Load copies a memory operand or register into a fresh register.
func (s ISA) Load(m Op) reg.VecVirtual {
	r := s.V()
	VMOVUPS(m, r)
	return r
}

// Op is the result of an instruction with two sources, in a fresh register.
func (s ISA) Op(f func(...Op), b, a Op) reg.VecVirtual {
	r := s.V()
	f(b, a, r)
	return r
}

func (s ISA) Add(a, b Op) reg.VecVirtual { return s.Op(VADDPS, b, a) }

func (s ISA) Sub(a, b Op) reg.VecVirtual { return s.Op(VSUBPS, b, a) }

func (s ISA) Mul(a, b Op) reg.VecVirtual { return s.Op(VMULPS, b, a) }

func (s ISA) Div(a, b Op) reg.VecVirtual { return s.Op(VDIVPS, b, a) }

// Max and Min return b where either operand is NaN.
func (s ISA) Max(a, b Op) reg.VecVirtual { return s.Op(VMAXPS, b, a) }

func (s ISA) Min(a, b Op) reg.VecVirtual { return s.Op(VMINPS, b, a) }

func (s ISA) And(a, b Op) reg.VecVirtual { return s.either(VPANDD, VPAND, a, b) }

func (s ISA) Or(a, b Op) reg.VecVirtual { return s.either(VPORD, VPOR, a, b) }

// either emits an instruction that has one name with EVEX and another without.
func (s ISA) either(evex func(...Op), vex func(b, a, r Op), a, b Op) reg.VecVirtual {
	r := s.V()
	if s.EVEX {
		evex(b, a, r)
	} else {
		vex(b, a, r)
	}
	return r
}

func (s ISA) IAdd(a, b Op) reg.VecVirtual { r := s.V(); VPADDD(b, a, r); return r }

func (s ISA) ISub(a, b Op) reg.VecVirtual { r := s.V(); VPSUBD(b, a, r); return r }

func (s ISA) Shl(a Op, n int) reg.VecVirtual {
	r := s.V()
	VPSLLD(Imm(uint64(n)), a, r)
	return r
}

func (s ISA) Sar(a Op, n int) reg.VecVirtual {
	r := s.V()
	VPSRAD(Imm(uint64(n)), a, r)
	return r
}

// Fma returns a*b + c; only b may be in memory.
func (s ISA) Fma(a, b, c Op) reg.VecVirtual {
	r := s.Load(c)
	VFMADD231PS(b, a, r)
	return r
}

// Fnma returns c - a*b; only b may be in memory.
func (s ISA) Fnma(a, b, c Op) reg.VecVirtual {
	r := s.Load(c)
	VFNMADD231PS(b, a, r)
	return r
}

// Horner evaluates the polynomial with coefficients c, highest first.
func (s ISA) Horner(x Op, c ...float64) reg.VecVirtual {
	r := s.Load(s.F(c[0]))
	for _, k := range c[1:] {
		VFMADD213PS(s.F(k), x, r)
	}
	return r
}

// Comparison predicates of VCMPPS.
const (
	EQ    = 0x00
	LT    = 0x11
	LE    = 0x12
	Unord = 0x03
	GT    = 0x1e
	GE    = 0x1d
)

// Sel returns yes where a <pred> b holds and no elsewhere; b may be memory.
func (s ISA) Sel(pred uint64, a, b, yes, no Op) reg.VecVirtual {
	r := s.V()
	if s.EVEX {
		k := K()
		VCMPPS(Imm(pred), b, a, k)
		VBLENDMPS(yes, no, k, r)
		return r
	}
	m := s.V()
	VCMPPS(Imm(pred), b, a, m)
	VBLENDVPS(m, yes, no, r)
	return r
}

// Round rounds to the nearest integer, ties to even.
func (s ISA) Round(a Op) reg.VecVirtual {
	r := s.V()
	if s.EVEX {
		VRNDSCALEPS(Imm(8), a, r)
	} else {
		VROUNDPS(Imm(8), a, r)
	}
	return r
}

func (s ISA) ToInt(a Op) reg.VecVirtual { r := s.V(); VCVTPS2DQ(a, r); return r }

func (s ISA) ToFloat(a Op) reg.VecVirtual { r := s.V(); VCVTDQ2PS(a, r); return r }
