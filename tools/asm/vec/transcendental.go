package vec

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

const (
	ln2hi = 0.693359375
	ln2lo = -2.12194440e-4
)

// reduce splits x into n*ln 2 + r with |r| <= ln 2 / 2.
func reduce(s emit.ISA, x reg.VecVirtual) (n, r reg.VecVirtual) {
	n = s.Round(s.Mul(x, s.F(math.Log2E)))
	r = s.Fnma(n, s.F(ln2hi), x)
	VFNMADD231PS(s.F(ln2lo), n, r)
	return n, r
}

// expm1Poly returns e^r - 1 for a reduced argument.
func expm1Poly(s emit.ISA, r reg.VecVirtual) reg.VecVirtual {
	p := s.Horner(r, 1.0/5040, 1.0/720, 1.0/120, 1.0/24, 1.0/6, 0.5)
	return s.Fma(p, s.Mul(r, r), r)
}

// pow2 returns 2^n for an integer vector n in -126..127.
func pow2(s emit.ISA, n reg.VecVirtual) reg.VecVirtual {
	return s.Shl(s.IAdd(n, s.Bits(127)), 23)
}

// exp clamps x (NaN passes), and multiplies by 2^n in two halves so that
// subnormal and infinite results come out rounded once.
func exp(s emit.ISA, x reg.VecVirtual) reg.VecVirtual {
	x = s.Min(s.Load(s.F(90)), x)
	x = s.Max(s.Load(s.F(-110)), x)
	n, r := reduce(s, x)
	p := s.Add(expm1Poly(s, r), s.F(1))
	k := s.ToInt(n)
	half := s.Sar(k, 1)
	return s.Mul(s.Mul(p, pow2(s, half)), pow2(s, s.ISub(k, half)))
}

// log is the musl logf kernel on vectors.
func log(s emit.ISA, x reg.VecVirtual) reg.VecVirtual {
	tiny := s.F(0x1p-126)
	m := s.Sel(emit.LT, x, tiny, s.Mul(x, s.F(0x1p23)), x)
	bias := s.Sel(emit.LT, x, tiny, s.Load(s.F(-23)), s.Load(s.F(0)))
	u := s.IAdd(m, s.Bits(0x3f800000-0x3f3504f3))
	k := s.Add(s.ToFloat(s.ISub(s.Sar(u, 23), s.Bits(127))), bias)
	f := s.Sub(s.IAdd(s.And(u, s.Bits(0x007fffff)), s.Bits(0x3f3504f3)), s.F(1))
	q := s.Div(f, s.Add(f, s.F(2)))
	z := s.Mul(q, q)
	w := s.Mul(z, z)
	t1 := s.Mul(w, s.Horner(w, 0.24279078841, 0.40000972152))
	t2 := s.Mul(z, s.Horner(w, 0.28498786688, 0.66666662693))
	h := s.Mul(s.Mul(f, f), s.F(0.5))
	v := s.Mul(q, s.Add(s.Add(t1, t2), h))
	VFMADD231PS(s.F(9.0580006145e-06), k, v)
	v = s.Add(s.Sub(v, h), f)
	VFMADD231PS(s.F(6.9313812256e-01), k, v)
	v = s.Sel(emit.LT, x, s.F(0), s.Load(s.Bits(0x7fc00000)), v)
	v = s.Sel(emit.EQ, x, s.F(0), s.Load(s.Bits(0xff800000)), v)
	v = s.Sel(emit.EQ, x, s.Bits(0x7f800000), x, v)
	return s.Sel(emit.Unord, x, x, x, v)
}

// sigmoid evaluates through e^-|x| so that neither side overflows.
func sigmoid(s emit.ISA, x reg.VecVirtual) reg.VecVirtual {
	e := exp(s, s.Or(x, s.Bits(0x80000000)))
	num := s.Sel(emit.LT, x, s.F(0), e, s.Load(s.F(1)))
	return s.Div(num, s.Add(e, s.F(1)))
}

// tanh is -m/(m+2) with m = expm1(-2|x|), with the sign of x.
func tanh(s emit.ISA, x reg.VecVirtual) reg.VecVirtual {
	a := s.And(x, s.Bits(0x7fffffff))
	a = s.Min(s.Load(s.F(20)), a)
	n, r := reduce(s, s.Mul(a, s.F(-2)))
	p := expm1Poly(s, r)
	scale := pow2(s, s.ToInt(n))
	m := s.Fma(p, scale, s.Sub(scale, s.F(1)))
	q := s.Div(m, s.Add(m, s.F(2)))
	q = s.And(q, s.Bits(0x7fffffff))
	return s.Or(q, s.And(x, s.Bits(0x80000000)))
}

// Transcendental lists the operations that are series or roots.
func Transcendental(s emit.ISA) []Operation {
	one := func(f func(emit.ISA, reg.VecVirtual) reg.VecVirtual) func(lane) reg.VecVirtual {
		return func(l lane) reg.VecVirtual { return f(s, l.x) }
	}
	root := func(x reg.VecVirtual) reg.VecVirtual { r := s.V(); VSQRTPS(x, r); return r }
	return []Operation{
		{"exp", "x", 2, one(exp)},
		{"log", "x", 1, one(log)},
		{"sigmoid", "x", 1, one(sigmoid)},
		{"tanh", "x", 1, one(tanh)},
		{"pow25", "x", 1, func(l lane) reg.VecVirtual { return root(root(l.x)) }},
		{"pow75", "x", 1, func(l lane) reg.VecVirtual {
			h := root(l.x)
			return s.Mul(h, root(h))
		}},
		{"mulInvPow75", "xy", 2, func(l lane) reg.VecVirtual { p, _ := s.InvPow75(l.y); return s.Mul(l.x, p) }},
		{"pow", "xs", 1, func(l lane) reg.VecVirtual { return pow(s, l.x, l.s) }},
		{"inverse", "x", 1, func(l lane) reg.VecVirtual { return s.Div(s.Load(s.F(1)), l.x) }},
	}
}
