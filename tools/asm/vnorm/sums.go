package vnorm

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// sumRows emits loops that add up rows of n columns, ld apart, in their order, four vectors of columns at a time. term adds a row's values to
// their sum; finish gets a sum and the distance of its columns from the start of a row; advance moves other pointers on.
func sumRows(s emit.ISA, src, ld, rows, n, words reg.Register, term func(x Mem, mask reg.Register, sum reg.VecVirtual),
	finish func(sum reg.VecVirtual, disp int, mask reg.Register), advance func(bytes Op)) {
	SHLQ(Imm(2), ld)
	at, left := GP64(), GP64()
	s.InVectors("four", n, words, 4, func(count int, mask reg.Register) {
		loop := map[int]string{4: "fourrow", 1: "onerow"}[count]
		sums := make([]reg.VecVirtual, count)
		for u := range sums {
			sums[u] = s.Zero()
		}
		MOVQ(src, at)
		MOVQ(rows, left)
		Label(loop)
		for u, sum := range sums {
			term(Mem{Base: at, Disp: 4 * s.Width * u}, mask, sum)
		}
		ADDQ(ld, at)
		DECQ(left)
		JNE(LabelRef(loop))
		for u, sum := range sums {
			finish(sum, 4*s.Width*u, mask)
		}
		ADDQ(U32(4*s.Width*count), src)
		advance(U32(4 * s.Width * count))
	})
	s.Ret()
}

// SumSquares emits scale times the sums of the squares of rows, plus shift.
func SumSquares(s emit.ISA) {
	dst := emit.GP("dst")
	scale, shift := s.Constant("scale"), s.Constant("shift")
	sumRows(s, emit.GP("src"), emit.GP("ld"), emit.GP("rows"), emit.GP("n"), emit.GP("words"),
		func(x Mem, mask reg.Register, sum reg.VecVirtual) {
			v := s.LoadWhole(x, mask)
			VFMADD231PS(v, v, sum)
		},
		func(sum reg.VecVirtual, disp int, mask reg.Register) {
			s.StoreWhole(s.Fma(sum, scale, shift), Mem{Base: dst, Disp: disp}, mask)
		},
		func(bytes Op) { ADDQ(bytes, dst) })
}

// MulAddRows emits dst += scale*x*(the sum of rows).
func MulAddRows(s emit.ISA) {
	dst, factor := emit.GP("dst"), emit.GP("x")
	by := s.Constant("scale")
	sumRows(s, emit.GP("src"), emit.GP("ld"), emit.GP("rows"), emit.GP("n"), emit.GP("words"),
		func(x Mem, mask reg.Register, sum reg.VecVirtual) { VADDPS(s.LoadWhole(x, mask), sum, sum) },
		func(sum reg.VecVirtual, disp int, mask reg.Register) {
			x := s.Mul(s.LoadWhole(Mem{Base: factor, Disp: disp}, mask), by)
			s.StoreWhole(s.Fma(sum, x, s.LoadWhole(Mem{Base: dst, Disp: disp}, mask)), Mem{Base: dst, Disp: disp}, mask)
		},
		func(bytes Op) {
			ADDQ(bytes, dst)
			ADDQ(bytes, factor)
		})
}

// PowRatio emits own[i] = dy[i]*s[i]^-0.75 and ratio[i] = dy[i]*x[i]*s[i]^-1.75. EVEX multiplies with s^-0.5 twice, which InvPow75 has made;
// other sets divide by s.
func PowRatio(s emit.ISA) {
	own, ratio, dy, x, scale, n, words := emit.GP("own"), emit.GP("ratio"), emit.GP("dy"), emit.GP("x"), emit.GP("s"), emit.GP("n"), emit.GP("words")
	vector := func(disp int, mask reg.Register) {
		at := func(base reg.Register) Mem { return Mem{Base: base, Disp: disp} }
		g, power := s.LoadWhole(at(dy), mask), s.LoadWhole(at(scale), mask)
		p, root := s.InvPow75(power)
		s.StoreWhole(s.Mul(g, p), at(own), mask)
		g = s.Mul(g, s.Mul(s.LoadWhole(at(x), mask), p))
		if s.EVEX {
			g = s.Mul(s.Mul(g, root), root)
		} else {
			g = s.Div(g, power)
		}
		s.StoreWhole(g, at(ratio), mask)
	}
	s.InVectors("two", n, words, 2, func(count int, mask reg.Register) {
		for u := range count {
			vector(4*s.Width*u, mask)
		}
		for _, r := range []reg.Register{own, ratio, dy, x, scale} {
			ADDQ(U32(4*s.Width*count), r)
		}
	})
	s.Ret()
}
