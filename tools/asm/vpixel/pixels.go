package vpixel

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// shuffle is a constant vector of the places that VPSHUFB takes bytes from; -1 gives 0. Quarters of 16 bytes are the same.
func shuffle(s emit.ISA, name string, place func(i int) int) Mem {
	return s.Words(name, func(lane int) int {
		word := 0
		for k := range 4 {
			word |= (place(lane%4*4+k) & 0xff) << (8 * k)
		}
		return int(uint32(word))
	})
}

// BGR emits the conversion of colours. Factors of 1 and more are split, so that what is left has 15 bits and a sign: with d = Cb - 128 and e = Cr - 128,
//
//	R = Y + e + (26345 e + 2^15) / 2^16
//	G = Y - e + (18734 e - 22554 d + 2^15) / 2^16
//	B = Y + 2 d + (-14942 d + 2^15) / 2^16
func BGR(s emit.ISA) {
	out, y, cb, cr := emit.GP("out"), emit.GP("y"), emit.GP("cb"), emit.GP("cr")
	eachVector(s, "vectors", func() {
		luma, d, e := words(s, Mem{Base: y}), words(s, Mem{Base: cb}), words(s, Mem{Base: cr})
		VPSUBW(constant(s, 128), d, d)
		VPSUBW(constant(s, 128), e, e)
		rounded := func(v vector, factor int) vector { // the upper word of 2*v*factor has one bit more than the result
			r := s.Op(VPADDW, v, v)
			VPMULHW(constant(s, factor), r, r)
			VPADDW(constant(s, 1), r, r)
			VPSRAW(Imm(1), r, r)
			return r
		}
		red := rounded(e, 26345)
		VPADDW(e, red, red)
		VPADDW(luma, red, red)
		blue := rounded(d, -14942)
		VPADDW(d, blue, blue)
		VPADDW(d, blue, blue)
		VPADDW(luma, blue, blue)
		low, high := s.Op(VPUNPCKLWD, e, d), s.Op(VPUNPCKHWD, e, d)
		for _, v := range []vector{low, high} {
			VPMADDWD(pair(s, -22554, 18734), v, v)
			VPADDD(s.Bits(1<<15), v, v)
			VPSRAD(Imm(16), v, v)
		}
		green := s.Op(VPACKSSDW, high, low)
		VPSUBW(e, green, green)
		VPADDW(luma, green, green)

		// Eight pixels a quarter: blue and green side by side, then red.
		VPACKUSWB(green, blue, blue)
		VPACKUSWB(red, red, red)
		colours, reds := blue, red
		merged := func(from int) vector {
			r := s.Op(VPSHUFB, shuffle(s, fmt.Sprintf("bluesGreens%d", from), func(i int) int { return place(i+from, false) }), colours)
			VPOR(s.Op(VPSHUFB, shuffle(s, fmt.Sprintf("reds%d", from), func(i int) int { return place(i+from, true) }), reds), r, r)
			return r
		}
		first, second := merged(0), merged(16)
		for half := range s.Width / 4 { // 24 bytes each
			a, b := first, second
			if half == 1 {
				a, b = s.V(), s.V()
				VEXTRACTI128(Imm(1), first, a.AsX())
				VEXTRACTI128(Imm(1), second, b.AsX())
			}
			VMOVDQU(a.AsX(), Mem{Base: out, Disp: 24 * half})
			VMOVQ(b.AsX(), Mem{Base: out, Disp: 24*half + 16})
		}
		ADDQ(Imm(uint64(2*s.Width)), y)
		ADDQ(Imm(uint64(2*s.Width)), cb)
		ADDQ(Imm(uint64(2*s.Width)), cr)
		ADDQ(Imm(uint64(6*s.Width)), out)
	})
	s.Ret()
}

// place is where byte i of eight pixels is among their reds, or among eight blues and then eight greens; -1 if it is not.
func place(i int, red bool) int {
	if i >= 24 || (i%3 == 2) != red {
		return -1
	}
	return i%3%2*8 + i/3
}

// Columns3 emits the sums of two pixels of three channels.
func Columns3(s emit.ISA) {
	out, row, places, weights, n := emit.GP("out"), emit.GP("row"), emit.GP("at"), emit.GP("weights"), emit.GP("n")
	order := s.V()
	VMOVDQU(shuffle(s, "pixelPairs", func(i int) int { // bytes of both pixels in turn, as words
		if i%2 == 1 || i >= 12 {
			return -1
		}
		return i/4 + i/2%2*3
	}), order)
	Label("loop")
	TESTQ(n, n)
	JLE(LabelRef("done"))
	at, v, w := GP64(), XMM(), XMM()
	MOVLQSX(Mem{Base: places}, at)
	VMOVQ(Mem{Base: row, Index: at, Scale: 1}, v)
	VPSHUFB(order.AsX(), v, v)
	VPBROADCASTD(Mem{Base: weights}, w)
	VPMADDWD(w, v, v)
	VPSRAD(Imm(4), v, v)
	VPACKSSDW(v, v, v)
	VMOVQ(v, Mem{Base: out})
	ADDQ(Imm(4), places)
	ADDQ(Imm(4), weights)
	ADDQ(Imm(6), out)
	DECQ(n)
	JMP(LabelRef("loop"))
	Label("done")
	s.Ret()
}

// Columns1 emits the sums of two pixels of one channel, a vector at once.
func Columns1(s emit.ISA) {
	out, row, places, weights := emit.GP("out"), emit.GP("row"), emit.GP("at"), emit.GP("weights")
	order := shuffle(s, "bytePairs", func(i int) int { // two bytes of each double word, as words
		if i%2 == 1 {
			return -1
		}
		return i/4*4 + i/2%2
	})
	eachVector(s, "vectors", func() {
		index, v, mask := s.V(), s.V(), s.V()
		VMOVDQU(Mem{Base: places}, index)
		VPCMPEQD(mask, mask, mask)
		VPXOR(v, v, v)
		VPGATHERDD(mask, Mem{Base: row, Index: index, Scale: 1}, v)
		VPSHUFB(order, v, v)
		VPMADDWD(Mem{Base: weights}, v, v)
		VPSRAD(Imm(4), v, v)
		VPACKSSDW(v, v, v)
		if s.Width == 4 {
			VMOVQ(v, Mem{Base: out})
		} else {
			VPERMQ(U8(0x08), v, v)
			VMOVDQU(v.AsX(), Mem{Base: out})
		}
		ADDQ(Imm(uint64(4*s.Width)), places)
		ADDQ(Imm(uint64(4*s.Width)), weights)
		ADDQ(Imm(uint64(2*s.Width)), out)
	})
	s.Ret()
}

// Pick emits (byte - mean) * scale for bytes that lie stride apart.
func Pick(s emit.ISA, stride int) {
	dst, src := emit.GP("dst"), emit.GP("src")
	mean, scale := s.V(), s.V()
	VBROADCASTSS(emit.ParamAt("mean"), mean)
	VBROADCASTSS(emit.ParamAt("scale"), scale)
	load, loaded := VMOVDQU, 2*s.Width // a function and its bytes
	if s.Width == 4 {
		load = VMOVQ
	}
	order := func(from int) Mem { // of a load that begins at a byte
		return shuffle(s, fmt.Sprintf("every3_%d", from), func(i int) int {
			if at := 3*i - from; i < s.Width && at >= 0 && at < loaded && (from == 0 || 3*i >= loaded) {
				return at
			}
			return -1
		})
	}
	eachVector(s, "vectors", func() {
		v := s.V()
		if stride == 1 {
			VPMOVZXBD(Mem{Base: src}, v)
		} else {
			a, b, second := XMM(), XMM(), 3*s.Width-2-loaded // which ends with the last byte
			load(Mem{Base: src}, a)
			load(Mem{Base: src, Disp: second}, b)
			VPSHUFB(order(0), a, a)
			VPSHUFB(order(second), b, b)
			VPOR(a, b, a)
			VPMOVZXBD(a, v)
		}
		VCVTDQ2PS(v, v)
		VSUBPS(mean, v, v)
		VMULPS(scale, v, v)
		VMOVUPS(v, Mem{Base: dst})
		ADDQ(Imm(uint64(s.Width*stride)), src)
		ADDQ(Imm(uint64(4*s.Width)), dst)
	})
	s.Ret()
}
