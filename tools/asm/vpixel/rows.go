package vpixel

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// eachVector emits a loop over vectors. body gets nothing: it advances the pointers.
func eachVector(count string, body func()) {
	n := emit.GP(count)
	Label("loop")
	TESTQ(n, n)
	JLE(LabelRef("done"))
	body()
	DECQ(n)
	JMP(LabelRef("loop"))
	Label("done")
}

// words loads 16 bytes as words.
func words(at Mem) vector {
	v := YMM()
	VPMOVZXBW(at, v)
	return v
}

// all is a vector whose words are all a parameter.
func all(param string) vector {
	v := YMM()
	VMOVD(emit.GP(param).(reg.GPVirtual).As32(), v.AsX())
	VPBROADCASTW(v.AsX(), v)
	return v
}

// constant is a constant vector of equal words.
func constant(word int) Mem { return pair(word, word) }

// Mix emits sums = 3*near + far.
func Mix(s emit.ISA) {
	sums, near, far := emit.GP("sums"), emit.GP("near"), emit.GP("far")
	eachVector("vectors", func() {
		v, w := words(Mem{Base: near}), words(Mem{Base: far})
		VPADDW(v, w, w)
		VPADDW(v, v, v)
		VPADDW(v, w, w)
		VMOVDQU(w, Mem{Base: sums})
		ADDQ(Imm(16), near)
		ADDQ(Imm(16), far)
		ADDQ(Imm(32), sums)
	})
	s.Ret()
}

// Widen emits, for each sum, (3*sum + the one before + left) / 16 and (3*sum + the one behind + right) / 16.
func Widen(s emit.ISA) {
	out, sums := emit.GP("out"), emit.GP("sums")
	left, right := all("left"), all("right")
	eachVector("vectors", func() {
		v := YMM()
		VMOVDQU(Mem{Base: sums}, v)
		three := two(VPADDW, v, v)
		VPADDW(v, three, three)
		l, r := two(VPADDW, Mem{Base: sums, Disp: -2}, three), two(VPADDW, Mem{Base: sums, Disp: 2}, three)
		VPADDW(left, l, l)
		VPADDW(right, r, r)
		VPSRLW(Imm(4), l, l)
		VPSRLW(Imm(4), r, r)
		VPSLLW(Imm(8), r, r)
		VPOR(l, r, r)
		VMOVDQU(r, Mem{Base: out})
		ADDQ(Imm(32), sums)
		ADDQ(Imm(32), out)
	})
	s.Ret()
}

// Blend emits (a*upper>>16 + b*lower>>16 + 2) >> 2.
func Blend(s emit.ISA) {
	out, upper, lower := emit.GP("out"), emit.GP("upper"), emit.GP("lower")
	a, b := all("a"), all("b")
	half := YMM()
	VMOVDQU(constant(2), half)
	eachVector("vectors", func() {
		var r [2]vector
		for i := range r {
			r[i] = two(VPMULHW, Mem{Base: upper, Disp: 32 * i}, a)
			VPADDW(half, r[i], r[i])
			w := two(VPMULHW, Mem{Base: lower, Disp: 32 * i}, b)
			VPADDW(w, r[i], r[i])
			VPSRAW(Imm(2), r[i], r[i])
		}
		VPACKUSWB(r[1], r[0], r[0])
		VPERMQ(U8(0xd8), r[0], r[0])
		VMOVDQU(r[0], Mem{Base: out})
		ADDQ(Imm(64), upper)
		ADDQ(Imm(64), lower)
		ADDQ(Imm(32), out)
	})
	s.Ret()
}
