package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// lane is one group of loaded operands of an elementwise kernel.
type lane struct{ d, x, y, s, t reg.VecVirtual }

// elementwise emits dst[i] = body(dst[i], x[i], y[i], s, t) for n elements,
// n a multiple of the vector width. uses names the operands that are loaded. With unroll > 1 lines are fetched ahead.
func (s isa) elementwise(uses string, unroll int, body func(l lane) reg.VecVirtual) {
	has := func(c byte) bool {
		for i := range uses {
			if uses[i] == c {
				return true
			}
		}
		return false
	}
	var l lane
	d := Load(Param("d"), GP64())
	n := Load(Param("n"), GP64())
	var x, y reg.Register
	arrays := []reg.Register{d}
	if has('x') {
		x = Load(Param("x"), GP64())
		arrays = append(arrays, x)
	}
	if has('y') {
		y = Load(Param("y"), GP64())
		arrays = append(arrays, y)
	}
	if has('s') {
		a, _ := Param("s").Resolve()
		l.s = s.v()
		VBROADCASTSS(a.Addr, l.s)
	}
	if has('t') {
		a, _ := Param("t").Resolve()
		l.t = s.v()
		VBROADCASTSS(a.Addr, l.t)
	}
	at := GP64()
	XORQ(at, at)
	step := func(count int) {
		for u := 0; u < count; u++ {
			g := l
			off := u * 4 * s.w
			if count > 1 && off%64 == 0 {
				for _, array := range arrays {
					PREFETCHT0(Mem{Base: array, Index: at, Scale: 4, Disp: off + ahead})
				}
			}
			if has('d') {
				g.d = s.load(Mem{Base: d, Index: at, Scale: 4, Disp: off})
			}
			if has('x') {
				g.x = s.load(Mem{Base: x, Index: at, Scale: 4, Disp: off})
			}
			if has('y') {
				g.y = s.load(Mem{Base: y, Index: at, Scale: 4, Disp: off})
			}
			VMOVUPS(body(g), Mem{Base: d, Index: at, Scale: 4, Disp: off})
		}
		ADDQ(U32(count*s.w), at)
		SUBQ(U32(count*s.w), n)
	}
	if unroll > 1 {
		Label("wide")
		CMPQ(n, U32(unroll*s.w))
		JLT(LabelRef("narrow"))
		step(unroll)
		JMP(LabelRef("wide"))
	}
	Label("narrow")
	CMPQ(n, U32(s.w))
	JLT(LabelRef("done"))
	step(1)
	JMP(LabelRef("narrow"))
	Label("done")
	VZEROUPPER()
	RET()
}

// operation is an elementwise kernel: which operands its body uses, and how many vectors a turn of its loop does.
type operation struct {
	name, uses string
	unroll     int
	body       func(l lane) reg.VecVirtual
}

// arithmetic lists the operations of a few instructions.
func (s isa) arithmetic() []operation {
	return []operation{
		{"fill", "s", 4, func(l lane) reg.VecVirtual { return l.s }},
		{"add", "xy", 4, func(l lane) reg.VecVirtual { return s.add(l.x, l.y) }},
		{"sub", "xy", 4, func(l lane) reg.VecVirtual { return s.sub(l.x, l.y) }},
		{"mul", "xy", 4, func(l lane) reg.VecVirtual { return s.mul(l.x, l.y) }},
		{"div", "xy", 2, func(l lane) reg.VecVirtual { return s.div(l.x, l.y) }},
		{"addScalar", "xs", 4, func(l lane) reg.VecVirtual { return s.add(l.x, l.s) }},
		{"scale", "xs", 4, func(l lane) reg.VecVirtual { return s.mul(l.x, l.s) }},
		{"axpy", "dxs", 4, func(l lane) reg.VecVirtual { return s.fma(l.x, l.s, l.d) }},
		{"axpby", "dxst", 4, func(l lane) reg.VecVirtual { return s.fma(l.x, l.s, s.mul(l.d, l.t)) }},
		{"mulAdd", "dxy", 4, func(l lane) reg.VecVirtual { return s.fma(l.x, l.y, l.d) }},
		{"square", "x", 4, func(l lane) reg.VecVirtual { return s.mul(l.x, l.x) }},
		{"sqrt", "x", 2, func(l lane) reg.VecVirtual { r := s.v(); VSQRTPS(l.x, r); return r }},
		{"abs", "x", 4, func(l lane) reg.VecVirtual { return s.and(l.x, s.bits(0x7fffffff)) }},
		{"affine", "xst", 4, func(l lane) reg.VecVirtual { return s.fma(l.x, l.s, l.t) }},
		{"relu", "xs", 4, func(l lane) reg.VecVirtual {
			return s.sel(cmpLT, l.x, s.f(0), s.mul(l.x, l.s), l.x)
		}},
		// x is the gradient, y the forward input.
		{"reluGrad", "xys", 2, func(l lane) reg.VecVirtual {
			return s.sel(cmpGT, l.y, s.f(0), l.x, s.mul(l.x, l.s))
		}},
		{"max", "xy", 2, func(l lane) reg.VecVirtual {
			return s.sel(cmpUnord, l.x, l.x, l.x, s.max(l.x, l.y))
		}},
		{"min", "xy", 2, func(l lane) reg.VecVirtual {
			return s.sel(cmpUnord, l.x, l.x, l.x, s.min(l.x, l.y))
		}},
		// y says whose sign x gets.
		{"mulSign", "xy", 2, func(l lane) reg.VecVirtual {
			zero := s.load(s.f(0))
			below := s.sel(cmpLT, l.y, zero, s.sub(zero, l.x), s.mul(l.x, zero))
			return s.sel(cmpGT, l.y, zero, l.x, below)
		}},
		{"clamp", "xst", 4, func(l lane) reg.VecVirtual { return s.min(s.max(l.x, l.s), l.t) }},
		// x is the gradient, y the forward input.
		{"clampGrad", "xyst", 2, func(l lane) reg.VecVirtual {
			no := s.mul(l.x, s.f(0))
			return s.sel(cmpGE, l.y, l.s, s.sel(cmpLE, l.y, l.t, l.x, no), no)
		}},
		{"above", "xs", 4, func(l lane) reg.VecVirtual {
			return s.sel(cmpGT, l.x, l.s, s.load(s.f(1)), s.load(s.f(0)))
		}},
		// x is the gradient, y the forward output.
		{"sigmoidGrad", "xy", 4, func(l lane) reg.VecVirtual {
			return s.mul(s.mul(l.x, l.y), s.sub(s.load(s.f(1)), l.y))
		}},
		{"tanhGrad", "xy", 4, func(l lane) reg.VecVirtual { return s.mul(l.x, s.fnma(l.y, l.y, s.f(1))) }},
		// y is the slopes; in the gradient d is, x the gradient and y the forward input.
		{"prelu", "xy", 2, func(l lane) reg.VecVirtual {
			return s.sel(cmpGT, l.x, s.f(0), l.x, s.mul(l.x, l.y))
		}},
		{"preluGrad", "dxy", 2, func(l lane) reg.VecVirtual {
			return s.sel(cmpGT, l.y, s.f(0), l.x, s.mul(l.x, l.d))
		}},
		// x is the forward input, y the output.
		{"eluSlope", "xys", 2, func(l lane) reg.VecVirtual {
			slope := s.add(l.y, l.s)
			return s.sel(cmpLE, l.x, s.f(0), slope, s.fma(slope, s.f(0), s.f(1)))
		}},
		{"take", "dxys", 2, func(l lane) reg.VecVirtual { return s.sel(cmpGT, l.x, l.y, l.s, l.d) }},
		{"larger", "xy", 4, func(l lane) reg.VecVirtual { return s.sel(cmpGT, l.x, l.y, l.x, l.y) }},
		{"where", "xys", 2, func(l lane) reg.VecVirtual { return s.sel(cmpEQ, l.y, l.s, l.x, s.load(s.f(0))) }},
	}
}
