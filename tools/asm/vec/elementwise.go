package vec

import (
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// lane is a vector of each operand of an elementwise kernel.
type lane struct{ d, x, y, s, t reg.VecVirtual }

// Elementwise emits dst[i] = body(dst[i], x[i], y[i], s, t) for n elements,
// n a multiple of the vector width. uses names the operands that are loaded. With unroll above 1 the loop fetches lines ahead.
func Elementwise(s emit.ISA, uses string, unroll int, body func(l lane) reg.VecVirtual) {
	has := func(operand byte) bool { return strings.IndexByte(uses, operand) >= 0 }
	var l lane
	d, n := emit.GP("d"), emit.GP("n")
	var x, y reg.Register
	arrays := []reg.Register{d}
	if has('x') {
		x = emit.GP("x")
		arrays = append(arrays, x)
	}
	if has('y') {
		y = emit.GP("y")
		arrays = append(arrays, y)
	}
	if has('s') {
		l.s = s.Constant("s")
	}
	if has('t') {
		l.t = s.Constant("t")
	}
	at := GP64()
	XORQ(at, at)
	step := func(count int) {
		for u := 0; u < count; u++ {
			g := l
			off := u * 4 * s.Width
			if count > 1 && off%64 == 0 {
				for _, array := range arrays {
					PREFETCHT0(Mem{Base: array, Index: at, Scale: 4, Disp: off + emit.Ahead})
				}
			}
			if has('d') {
				g.d = s.Load(Mem{Base: d, Index: at, Scale: 4, Disp: off})
			}
			if has('x') {
				g.x = s.Load(Mem{Base: x, Index: at, Scale: 4, Disp: off})
			}
			if has('y') {
				g.y = s.Load(Mem{Base: y, Index: at, Scale: 4, Disp: off})
			}
			VMOVUPS(body(g), Mem{Base: d, Index: at, Scale: 4, Disp: off})
		}
		ADDQ(U32(count*s.Width), at)
		SUBQ(U32(count*s.Width), n)
	}
	if unroll > 1 {
		Label("wide")
		CMPQ(n, U32(unroll*s.Width))
		JLT(LabelRef("narrow"))
		step(unroll)
		JMP(LabelRef("wide"))
	}
	Label("narrow")
	CMPQ(n, U32(s.Width))
	JLT(LabelRef("done"))
	step(1)
	JMP(LabelRef("narrow"))
	Label("done")
	s.Ret()
}

// Operation is an elementwise kernel: the operands that its body uses, and the number of vectors in a turn of its loop.
type Operation struct {
	Name, Uses string
	Unroll     int
	Body       func(l lane) reg.VecVirtual
}

// Arithmetic is the table of operations of a few instructions. A table is better in one piece than in functions of 60 lines.
func Arithmetic(s emit.ISA) []Operation {
	return []Operation{
		{"fill", "s", 4, func(l lane) reg.VecVirtual { return l.s }},
		{"add", "xy", 4, func(l lane) reg.VecVirtual { return s.Add(l.x, l.y) }},
		{"sub", "xy", 4, func(l lane) reg.VecVirtual { return s.Sub(l.x, l.y) }},
		{"mul", "xy", 4, func(l lane) reg.VecVirtual { return s.Mul(l.x, l.y) }},
		{"div", "xy", 2, func(l lane) reg.VecVirtual { return s.Div(l.x, l.y) }},
		{"addScalar", "xs", 4, func(l lane) reg.VecVirtual { return s.Add(l.x, l.s) }},
		{"scale", "xs", 4, func(l lane) reg.VecVirtual { return s.Mul(l.x, l.s) }},
		{"axpy", "dxs", 4, func(l lane) reg.VecVirtual { return s.Fma(l.x, l.s, l.d) }},
		{"mulAdd", "dxy", 4, func(l lane) reg.VecVirtual { return s.Fma(l.x, l.y, l.d) }},
		{"square", "x", 4, func(l lane) reg.VecVirtual { return s.Mul(l.x, l.x) }},
		{"sqrt", "x", 2, func(l lane) reg.VecVirtual { r := s.V(); VSQRTPS(l.x, r); return r }},
		{"abs", "x", 4, func(l lane) reg.VecVirtual { return s.And(l.x, s.Bits(0x7fffffff)) }},
		{"round", "x", 4, func(l lane) reg.VecVirtual { return rounded(s, l.x) }},
		{"swapRounded", "x", 4, func(l lane) reg.VecVirtual { return swapRounded(s, l.x) }},
		// bfloat16 values of x in the lower halves, of y in the upper ones.
		{"pairUp", "xy", 2, func(l lane) reg.VecVirtual {
			low := s.V()
			VPSRLD(Imm(16), rounded(s, l.x), low)
			return s.Or(low, rounded(s, l.y))
		}},
		{"affine", "xst", 4, func(l lane) reg.VecVirtual { return s.Fma(l.x, l.s, l.t) }},
		{"relu", "xs", 4, func(l lane) reg.VecVirtual { return leaky(s, l.x, l.s) }},
		// relu for a slope s of 0 of either sign: its products are exact, and so is the fused sum.
		{"rectify", "xs", 4, func(l lane) reg.VecVirtual {
			zero := s.Zero()
			return s.Fma(s.Min(zero, l.x), l.s, s.Max(zero, l.x))
		}},
		// x is the gradient, y the forward input.
		{"reluGrad", "xys", 2, func(l lane) reg.VecVirtual {
			return s.Sel(emit.GT, l.y, s.F(0), l.x, s.Mul(l.x, l.s))
		}},
		{"max", "xy", 2, func(l lane) reg.VecVirtual {
			return s.Sel(emit.Unord, l.x, l.x, l.x, s.Max(l.x, l.y))
		}},
		{"min", "xy", 2, func(l lane) reg.VecVirtual {
			return s.Sel(emit.Unord, l.x, l.x, l.x, s.Min(l.x, l.y))
		}},
		// x gets the sign of y.
		{"mulSign", "xy", 2, func(l lane) reg.VecVirtual {
			zero := s.Load(s.F(0))
			below := s.Sel(emit.LT, l.y, zero, s.Mul(l.x, s.F(-1)), s.Mul(l.x, zero))
			return s.Sel(emit.GT, l.y, zero, l.x, below)
		}},
		{"clamp", "xst", 4, func(l lane) reg.VecVirtual { return s.Max(s.Min(l.t, l.x), l.s) }},
		// x is the gradient, y the forward input.
		{"clampGrad", "xyst", 2, func(l lane) reg.VecVirtual {
			no := s.Mul(l.x, s.F(0))
			return s.Sel(emit.GE, l.y, l.s, s.Sel(emit.LE, l.y, l.t, l.x, no), no)
		}},
		{"above", "xs", 4, func(l lane) reg.VecVirtual {
			return s.Sel(emit.GT, l.x, l.s, s.Load(s.F(1)), s.Load(s.F(0)))
		}},
		// x is the gradient, y the forward output.
		{"sigmoidGrad", "xy", 4, func(l lane) reg.VecVirtual {
			return s.Mul(s.Mul(l.x, l.y), s.Sub(s.Load(s.F(1)), l.y))
		}},
		{"tanhGrad", "xy", 4, func(l lane) reg.VecVirtual { return s.Mul(l.x, s.Fnma(l.y, l.y, s.F(1))) }},
		// y holds the slopes. In the gradient d holds them, x is the gradient and y the forward input.
		{"prelu", "xy", 2, func(l lane) reg.VecVirtual { return leaky(s, l.x, l.y) }},
		{"preluGrad", "dxy", 2, func(l lane) reg.VecVirtual {
			return s.Sel(emit.GT, l.y, s.F(0), l.x, s.Mul(l.x, l.d))
		}},
		// x is the forward input, y the output.
		{"eluSlope", "xys", 2, func(l lane) reg.VecVirtual {
			slope := s.Add(l.y, l.s)
			return s.Sel(emit.LE, l.x, s.F(0), slope, s.Fma(slope, s.F(0), s.F(1)))
		}},
		{"take", "dxys", 2, func(l lane) reg.VecVirtual { return s.Sel(emit.GT, l.x, l.y, l.s, l.d) }},
		{"larger", "xy", 4, func(l lane) reg.VecVirtual { return s.Sel(emit.GT, l.x, l.y, l.x, l.y) }},
		{"where", "xys", 2, func(l lane) reg.VecVirtual { return s.Sel(emit.EQ, l.y, l.s, l.x, s.Load(s.F(0))) }},
	}
}

// leaky returns max(x, 0) + slope*min(x, 0). Where x is 0 or NaN, Max and Min return x, as C++'s std::max and std::min do, and the sum of a product
// that underflows to -0 and 0 is 0. A fused sum would be -0.
func leaky(s emit.ISA, x, slope reg.VecVirtual) reg.VecVirtual {
	zero := s.Zero()
	return s.Add(s.Max(zero, x), s.Mul(s.Min(zero, x), slope))
}

// swapRounded rounds to bfloat16 and swaps the lanes of each pair.
func swapRounded(s emit.ISA, x reg.VecVirtual) reg.VecVirtual {
	r := s.V()
	VPERMILPS(Imm(0xb1), rounded(s, x), r)
	return r
}

// rounded rounds to bfloat16, to nearest even, as VCVTNE2PS2BF16 does: values below the least normal one become zero, and NaNs stay NaNs.
func rounded(s emit.ISA, x reg.VecVirtual) reg.VecVirtual {
	upper := s.Bits(0xffff0000)
	odd := s.And(s.Sar(x, 16), s.Bits(1))
	nearest := s.And(s.IAdd(s.IAdd(x, s.Bits(0x7fff)), odd), upper)
	nearest = s.Sel(emit.Unord, x, x, s.Or(s.And(x, upper), s.Bits(0x00400000)), nearest)
	return s.Sel(emit.LT, s.And(x, s.Bits(0x7fffffff)), s.F(0x1p-126), s.And(x, s.Bits(0x80000000)), nearest)
}
