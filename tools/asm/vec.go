package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// isa is one instruction level: the vector width in float32 lanes and the
// suffix of the generated functions.
type isa struct {
	w    int
	tag  string // behind names of functions
	name string // in names of files
	kept *kept  // constants of the loop that is emitted, if it has any in registers
}

var consts = map[string]Mem{}

// align lets the next instruction begin at a multiple of n bytes. Skylake decodes a jump that crosses or ends 32 bytes anew in every
// turn of a loop (Intel, Mitigations for Jump Conditional Code Erratum, 2019).
func align(n int) {
	Instruction(&ir.Instruction{Opcode: "PCALIGN", Operands: []Op{U32(uint32(n))}})
}

// v returns a fresh vector register.
func (s isa) v() reg.VecVirtual {
	if s.w == 16 {
		return ZMM()
	}
	return YMM()
}

// bits is a constant vector in memory with every lane equal to u.
func (s isa) bits(u uint32) Mem {
	name := fmt.Sprintf("c%d_%08x", s.w, u)
	if m, ok := consts[name]; ok {
		return m
	}
	m := GLOBL(name, attr.RODATA|attr.NOPTR)
	for i := 0; i < s.w; i++ {
		DATA(4*i, U32(u))
	}
	consts[name] = m
	return m
}

// f is a constant vector of the float32 value x.
func (s isa) f(x float64) Mem { return s.bits(math.Float32bits(float32(x))) }

// load copies a memory operand or register into a fresh register.
func (s isa) load(m Op) reg.VecVirtual {
	r := s.v()
	VMOVUPS(m, r)
	return r
}

func (s isa) op(f func(...Op), b, a Op) reg.VecVirtual {
	r := s.v()
	f(b, a, r)
	return r
}

func (s isa) add(a, b Op) reg.VecVirtual { return s.op(VADDPS, b, a) }
func (s isa) sub(a, b Op) reg.VecVirtual { return s.op(VSUBPS, b, a) }
func (s isa) mul(a, b Op) reg.VecVirtual { return s.op(VMULPS, b, a) }
func (s isa) div(a, b Op) reg.VecVirtual { return s.op(VDIVPS, b, a) }

// max and min return b when either operand is NaN.
func (s isa) max(a, b Op) reg.VecVirtual { return s.op(VMAXPS, b, a) }
func (s isa) min(a, b Op) reg.VecVirtual { return s.op(VMINPS, b, a) }

func (s isa) and(a, b Op) reg.VecVirtual {
	r := s.v()
	if s.w == 16 {
		VPANDD(b, a, r)
	} else {
		VPAND(b, a, r)
	}
	return r
}

func (s isa) or(a, b Op) reg.VecVirtual {
	r := s.v()
	if s.w == 16 {
		VPORD(b, a, r)
	} else {
		VPOR(b, a, r)
	}
	return r
}

func (s isa) iadd(a, b Op) reg.VecVirtual { r := s.v(); VPADDD(b, a, r); return r }
func (s isa) isub(a, b Op) reg.VecVirtual { r := s.v(); VPSUBD(b, a, r); return r }
func (s isa) shl(a Op, n int) reg.VecVirtual {
	r := s.v()
	VPSLLD(Imm(uint64(n)), a, r)
	return r
}
func (s isa) sar(a Op, n int) reg.VecVirtual {
	r := s.v()
	VPSRAD(Imm(uint64(n)), a, r)
	return r
}

// fma returns a*b + c; only b may be in memory.
func (s isa) fma(a, b, c Op) reg.VecVirtual {
	r := s.load(c)
	VFMADD231PS(b, a, r)
	return r
}

// fnma returns c - a*b; only b may be in memory.
func (s isa) fnma(a, b, c Op) reg.VecVirtual {
	r := s.load(c)
	VFNMADD231PS(b, a, r)
	return r
}

// horner evaluates the polynomial with coefficients c, highest first.
func (s isa) horner(x Op, c ...float64) reg.VecVirtual {
	r := s.load(s.f(c[0]))
	for _, k := range c[1:] {
		VFMADD213PS(s.f(k), x, r)
	}
	return r
}

// Comparison predicates of VCMPPS.
const (
	cmpEQ    = 0x00
	cmpLT    = 0x11
	cmpLE    = 0x12
	cmpUnord = 0x03
	cmpGT    = 0x1e
	cmpGE    = 0x1d
)

// sel returns yes where a <pred> b holds and no elsewhere; b may be memory.
func (s isa) sel(pred uint64, a, b, yes, no Op) reg.VecVirtual {
	r := s.v()
	if s.w == 16 {
		k := K()
		VCMPPS(Imm(pred), b, a, k)
		VBLENDMPS(yes, no, k, r)
		return r
	}
	m := s.v()
	VCMPPS(Imm(pred), b, a, m)
	VBLENDVPS(m, yes, no, r)
	return r
}

// round rounds to the nearest integer, ties to even.
func (s isa) round(a Op) reg.VecVirtual {
	r := s.v()
	if s.w == 16 {
		VRNDSCALEPS(Imm(8), a, r)
	} else {
		VROUNDPS(Imm(8), a, r)
	}
	return r
}

func (s isa) toInt(a Op) reg.VecVirtual   { r := s.v(); VCVTPS2DQ(a, r); return r }
func (s isa) toFloat(a Op) reg.VecVirtual { r := s.v(); VCVTDQ2PS(a, r); return r }
