package vpixel

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// eachVector emits a loop over vectors of AVX2's size; a narrower one takes as many turns for each as it needs. body advances the pointers.
func eachVector(s emit.ISA, count string, body func()) {
	n := emit.GP(count)
	if s.Width == 4 {
		ADDQ(n, n)
	}
	Label("loop")
	TESTQ(n, n)
	JLE(LabelRef("done"))
	body()
	DECQ(n)
	JMP(LabelRef("loop"))
	Label("done")
}

// words loads half a vector of bytes as words.
func words(s emit.ISA, at Mem) vector {
	v := s.V()
	VPMOVZXBW(at, v)
	return v
}

// all is a vector whose words are all a parameter.
func all(s emit.ISA, param string) vector {
	v := s.V()
	VMOVD(emit.GP(param).(reg.GPVirtual).As32(), v.AsX())
	VPBROADCASTW(v.AsX(), v)
	return v
}

// constant is a constant vector of equal words.
func constant(s emit.ISA, word int) Mem { return pair(s, word, word) }

// Mix emits sums = 3*near + far.
func Mix(s emit.ISA) {
	sums, near, far := emit.GP("sums"), emit.GP("near"), emit.GP("far")
	eachVector(s, "vectors", func() {
		v, w := words(s, Mem{Base: near}), words(s, Mem{Base: far})
		VPADDW(v, w, w)
		VPADDW(v, v, v)
		VPADDW(v, w, w)
		VMOVDQU(w, Mem{Base: sums})
		ADDQ(Imm(uint64(2*s.Width)), near)
		ADDQ(Imm(uint64(2*s.Width)), far)
		ADDQ(Imm(uint64(4*s.Width)), sums)
	})
	s.Ret()
}

// Widen emits, for each sum, (3*sum + the one before + left) / 16 and (3*sum + the one behind + right) / 16.
func Widen(s emit.ISA) {
	out, sums := emit.GP("out"), emit.GP("sums")
	left, right := all(s, "left"), all(s, "right")
	eachVector(s, "vectors", func() {
		v := s.V()
		VMOVDQU(Mem{Base: sums}, v)
		three := s.Op(VPADDW, v, v)
		VPADDW(v, three, three)
		l, r := s.Op(VPADDW, Mem{Base: sums, Disp: -2}, three), s.Op(VPADDW, Mem{Base: sums, Disp: 2}, three)
		VPADDW(left, l, l)
		VPADDW(right, r, r)
		VPSRLW(Imm(4), l, l)
		VPSRLW(Imm(4), r, r)
		VPSLLW(Imm(8), r, r)
		VPOR(l, r, r)
		VMOVDQU(r, Mem{Base: out})
		ADDQ(Imm(uint64(4*s.Width)), sums)
		ADDQ(Imm(uint64(4*s.Width)), out)
	})
	s.Ret()
}

// Blend emits (a*upper>>16 + b*lower>>16 + 2) >> 2.
func Blend(s emit.ISA) {
	out, upper, lower := emit.GP("out"), emit.GP("upper"), emit.GP("lower")
	a, b := all(s, "a"), all(s, "b")
	half := s.V()
	VMOVDQU(constant(s, 2), half)
	eachVector(s, "vectors", func() {
		var r [2]vector
		for i := range r {
			r[i] = s.Op(VPMULHW, Mem{Base: upper, Disp: 4 * s.Width * i}, a)
			VPADDW(half, r[i], r[i])
			w := s.Op(VPMULHW, Mem{Base: lower, Disp: 4 * s.Width * i}, b)
			VPADDW(w, r[i], r[i])
			VPSRAW(Imm(2), r[i], r[i])
		}
		VPACKUSWB(r[1], r[0], r[0])
		if s.Width > 4 {
			VPERMQ(U8(0xd8), r[0], r[0])
		}
		VMOVDQU(r[0], Mem{Base: out})
		ADDQ(Imm(uint64(8*s.Width)), upper)
		ADDQ(Imm(uint64(8*s.Width)), lower)
		ADDQ(Imm(uint64(4*s.Width)), out)
	})
	s.Ret()
}
