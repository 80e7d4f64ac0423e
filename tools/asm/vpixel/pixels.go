package vpixel

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// shuffle is a constant vector of the places that VPSHUFB takes bytes from; -1 gives 0. Both halves are the same.
func shuffle(name string, place func(i int) int) Mem {
	return emit.ISA{Width: 8}.Words(name, func(lane int) int {
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
	eachVector("vectors", func() {
		luma, d, e := words(Mem{Base: y}), words(Mem{Base: cb}), words(Mem{Base: cr})
		VPSUBW(constant(128), d, d)
		VPSUBW(constant(128), e, e)
		rounded := func(v vector, factor int) vector { // the upper word of 2*v*factor has one bit more than the result
			r := two(VPADDW, v, v)
			VPMULHW(constant(factor), r, r)
			VPADDW(constant(1), r, r)
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
		low, high := two(VPUNPCKLWD, e, d), two(VPUNPCKHWD, e, d)
		for _, v := range []vector{low, high} {
			VPMADDWD(pair(-22554, 18734), v, v)
			VPADDD(emit.ISA{Width: 8}.Bits(1<<15), v, v)
			VPSRAD(Imm(16), v, v)
		}
		green := two(VPACKSSDW, high, low)
		VPSUBW(e, green, green)
		VPADDW(luma, green, green)

		// Eight pixels a half: blue and green side by side, then red.
		VPACKUSWB(green, blue, blue)
		VPACKUSWB(red, red, red)
		colours, reds := blue, red
		merged := func(from int) vector {
			r := two(VPSHUFB, shuffle(fmt.Sprintf("bluesGreens%d", from), func(i int) int { return place(i+from, false) }), colours)
			VPOR(two(VPSHUFB, shuffle(fmt.Sprintf("reds%d", from), func(i int) int { return place(i+from, true) }), reds), r, r)
			return r
		}
		first, second := merged(0), merged(16)
		for half := range 2 { // 24 bytes each
			a, b := first, second
			if half == 1 {
				a, b = YMM(), YMM()
				VEXTRACTI128(Imm(1), first, a.AsX())
				VEXTRACTI128(Imm(1), second, b.AsX())
			}
			VMOVDQU(a.AsX(), Mem{Base: out, Disp: 24 * half})
			VMOVQ(b.AsX(), Mem{Base: out, Disp: 24*half + 16})
		}
		ADDQ(Imm(16), y)
		ADDQ(Imm(16), cb)
		ADDQ(Imm(16), cr)
		ADDQ(Imm(48), out)
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
	order := YMM()
	VMOVDQU(shuffle("pixelPairs", func(i int) int { // bytes of both pixels in turn, as words
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

// Columns1 emits the sums of two pixels of one channel, eight at once.
func Columns1(s emit.ISA) {
	out, row, places, weights := emit.GP("out"), emit.GP("row"), emit.GP("at"), emit.GP("weights")
	order := shuffle("bytePairs", func(i int) int { // two bytes of each double word, as words
		if i%2 == 1 {
			return -1
		}
		return i/4*4 + i/2%2
	})
	eachVector("vectors", func() {
		index, v, mask := YMM(), YMM(), YMM()
		VMOVDQU(Mem{Base: places}, index)
		VPCMPEQD(mask, mask, mask)
		VPXOR(v, v, v)
		VPGATHERDD(mask, Mem{Base: row, Index: index, Scale: 1}, v)
		VPSHUFB(order, v, v)
		VPMADDWD(Mem{Base: weights}, v, v)
		VPSRAD(Imm(4), v, v)
		VPACKSSDW(v, v, v)
		VPERMQ(U8(0x08), v, v)
		VMOVDQU(v.AsX(), Mem{Base: out})
		ADDQ(Imm(32), places)
		ADDQ(Imm(32), weights)
		ADDQ(Imm(16), out)
	})
	s.Ret()
}

// Pick emits (byte - mean) * scale for eight bytes that lie stride apart.
func Pick(s emit.ISA, stride int) {
	dst, src := emit.GP("dst"), emit.GP("src")
	mean, scale := YMM(), YMM()
	VBROADCASTSS(emit.ParamAt("mean"), mean)
	VBROADCASTSS(emit.ParamAt("scale"), scale)
	order := func(from int) Mem { // of a load that begins at a byte
		return shuffle(fmt.Sprintf("every3_%d", from), func(i int) int {
			if at := 3*i - from; i < 8 && at >= 0 && at < 16 && (from == 0 || 3*i >= 16) {
				return at
			}
			return -1
		})
	}
	eachVector("vectors", func() {
		v := YMM()
		if stride == 1 {
			VPMOVZXBD(Mem{Base: src}, v)
		} else {
			a, b := XMM(), XMM()
			VMOVDQU(Mem{Base: src}, a)
			VMOVDQU(Mem{Base: src, Disp: 6}, b) // up to the last byte, not further
			VPSHUFB(order(0), a, a)
			VPSHUFB(order(6), b, b)
			VPOR(a, b, a)
			VPMOVZXBD(a, v)
		}
		VCVTDQ2PS(v, v)
		VSUBPS(mean, v, v)
		VMULPS(scale, v, v)
		VMOVUPS(v, Mem{Base: dst})
		ADDQ(Imm(uint64(8*stride)), src)
		ADDQ(Imm(32), dst)
	})
	s.Ret()
}
