package vpixel

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// Factors of the transform, named as in internal/base/simd/vpixel.
const (
	fraction = 13
	kept     = 2
	f0541    = 4433
	f1306    = 10703
	f1847    = 15137
	f1175    = 9633
	f0298    = 2446
	f2053    = 16819
	f3072    = 25172
	f1501    = 12299
	f0899    = 7373
	f2562    = 20995
	f1961    = 16069
	f0390    = 3196
)

type vector = reg.VecVirtual

// Transform emits the inverse cosine transform of pairs of blocks: each half of a vector has a row of one of them.
func Transform(s emit.ISA) {
	out, stride, values, quant, pairs := emit.GP("out"), emit.GP("stride"), emit.GP("values"), emit.GP("quant"), emit.GP("pairs")
	odds := AllocLocal(8 * 32)
	Label("pair")
	TESTQ(pairs, pairs)
	JLE(LabelRef("done"))

	rows := dequantise(values, quant)
	columns := pass(rows, odds, fraction-kept)
	lines := pass(transpose(columns), odds, fraction+kept+3)
	store(bytes(lines), out, stride)

	ADDQ(U32(256), values)
	ADDQ(Imm(16), out)
	DECQ(pairs)
	JMP(LabelRef("pair"))
	Label("done")
	s.Ret()
}

// two returns the result of an instruction with two sources in a fresh register.
func two(f func(...Op), b, a Op) vector {
	r := YMM()
	f(b, a, r)
	return r
}

// dequantise loads the rows of two blocks and multiplies them. A block without coefficients below its first row does not saturate in the first
// pass, but wraps: then the first row has 14 bits.
func dequantise(values, quant reg.Register) (rows [8]vector) {
	below := YMM()
	for y := 7; y >= 0; y-- {
		r := YMM()
		VBROADCASTI128(Mem{Base: values, Disp: 16 * y}, r) // not a move of half a register, whose other half avo would keep alive
		VINSERTI128(Imm(1), Mem{Base: values, Disp: 128 + 16*y}, r, r)
		switch y {
		case 7:
			VMOVDQA(r, below)
		case 0:
		default:
			VPOR(r, below, below)
		}
		q := YMM()
		VBROADCASTI128(Mem{Base: quant, Disp: 16 * y}, q)
		VPMULLW(q, r, r)
		rows[y] = r
	}
	zero := YMM()
	VPXOR(zero, zero, zero)
	VPCMPEQD(zero, below, below)
	t := YMM()
	for _, order := range []uint64{0x4e, 0xb1} {
		VPSHUFD(U8(order), below, t)
		VPAND(t, below, below)
	}
	VPSLLW(Imm(kept), rows[0], t)
	VPSRAW(Imm(kept), t, t)
	VPBLENDVB(below, t, rows[0], rows[0])
	return rows
}

// pair is a constant vector of pairs of words.
func pair(a, b int) Mem {
	return emit.ISA{Width: 8}.Bits(uint32(uint16(a)) | uint32(uint16(b))<<16)
}

// pass emits one pass over the eight vectors v, whose results lose some bits.
func pass(v [8]vector, odds Mem, bits int) (out [8]vector) {
	at := func(i, half int) Mem { m := odds; m.Disp += 64*i + 32*half; return m }
	z3, z4 := two(VPADDW, v[7], v[3]), two(VPADDW, v[5], v[1])
	for half, unpack := range []func(...Op){VPUNPCKLWD, VPUNPCKHWD} {
		z := two(unpack, z4, z3)
		p, q := two(VPMADDWD, pair(f1175-f1961, f1175), z), two(VPMADDWD, pair(f1175, f1175-f0390), z)
		save := func(i int, from vector, a, b int, more vector) {
			r := two(VPMADDWD, pair(a, b), from)
			VPADDD(more, r, r)
			VMOVDQU(r, at(i, half))
		}
		u := two(unpack, v[1], v[7])
		save(0, u, -f0899, f1501-f0899, q)
		save(3, u, f0298-f0899, -f0899, p)
		u = two(unpack, v[3], v[5])
		save(1, u, -f2562, f3072-f2562, p)
		save(2, u, f2053-f2562, -f2562, q)
	}
	sum, difference := two(VPADDW, v[4], v[0]), two(VPSUBW, v[4], v[0])
	low, high := two(VPUNPCKLWD, v[6], v[2]), two(VPUNPCKHWD, v[6], v[2])
	for i, e := range []struct {
		base     vector
		factor   Mem
		subtract bool
	}{
		{sum, pair(f1306, f0541), false},
		{difference, pair(f0541, f0541-f1847), false},
		{difference, pair(f0541, f0541-f1847), true},
		{sum, pair(f1306, f0541), true},
	} {
		var up, down [2]vector
		for half, from := range []vector{low, high} {
			m := two(VPMADDWD, e.factor, from)
			r := YMM()
			VPXOR(r, r, r)
			if half == 0 { // words become the upper halves of double words
				VPUNPCKLWD(e.base, r, r)
			} else {
				VPUNPCKHWD(e.base, r, r)
			}
			VPSRAD(Imm(16-fraction), r, r)
			if e.subtract {
				VPSUBD(m, r, r)
			} else {
				VPADDD(m, r, r)
			}
			VPADDD(emit.ISA{Width: 8}.Bits(1<<(bits-1)), r, r)
			up[half], down[half] = two(VPADDD, at(i, half), r), two(VPSUBD, at(i, half), r)
			VPSRAD(U8(bits), up[half], up[half])
			VPSRAD(U8(bits), down[half], down[half])
		}
		out[i], out[7-i] = two(VPACKSSDW, up[1], up[0]), two(VPACKSSDW, down[1], down[0])
	}
	return out
}

// transpose exchanges rows and columns of the words of both halves.
func transpose(v [8]vector) [8]vector {
	var a, b [8]vector
	for i := range 4 { // words of vectors i and i+4 side by side
		a[2*i], a[2*i+1] = two(VPUNPCKLWD, v[i+4], v[i]), two(VPUNPCKHWD, v[i+4], v[i])
	}
	// Of a, 0 and 1 have vectors 0 and 4, 2 and 3 have 1 and 5, 4 and 5 have 2 and 6, 6 and 7 have 3 and 7.
	for i := range 2 { // vectors i, i+2, i+4 and i+6
		b[4*i], b[4*i+1] = two(VPUNPCKLWD, a[2*i+4], a[2*i]), two(VPUNPCKHWD, a[2*i+4], a[2*i])
		b[4*i+2], b[4*i+3] = two(VPUNPCKLWD, a[2*i+5], a[2*i+1]), two(VPUNPCKHWD, a[2*i+5], a[2*i+1])
	}
	var c [8]vector
	for i := range 4 {
		c[2*i], c[2*i+1] = two(VPUNPCKLWD, b[i+4], b[i]), two(VPUNPCKHWD, b[i+4], b[i])
	}
	return c
}

// bytes emits samples from words: four vectors, each with two rows of both blocks.
func bytes(v [8]vector) (rows [4]vector) {
	var p [4]vector
	for i := range 4 {
		p[i] = two(VPACKSSWB, v[i+4], v[i])
		VPADDB(emit.ISA{Width: 8}.Bits(0x80808080), p[i], p[i])
	}
	// Rows of v are columns of the blocks. Of p, i has columns i and i+4.
	c01, c45 := two(VPUNPCKLBW, p[1], p[0]), two(VPUNPCKHBW, p[1], p[0])
	c23, c67 := two(VPUNPCKLBW, p[3], p[2]), two(VPUNPCKHBW, p[3], p[2])
	for i, unpack := range []func(...Op){VPUNPCKLWD, VPUNPCKHWD} {
		left, right := two(unpack, c23, c01), two(unpack, c67, c45)
		rows[2*i], rows[2*i+1] = two(VPUNPCKLDQ, right, left), two(VPUNPCKHDQ, right, left)
	}
	return rows
}

// store writes 8 rows of 16 samples.
func store(rows [4]vector, out, stride reg.Register) {
	at := GP64()
	MOVQ(out, at)
	for _, r := range rows {
		VPERMQ(U8(0xd8), r, r) // the first row of both blocks, then the second
		VMOVDQU(r.AsX(), Mem{Base: at})
		VEXTRACTI128(Imm(1), r, Mem{Base: at, Index: stride, Scale: 1})
		LEAQ(Mem{Base: at, Index: stride, Scale: 2}, at)
	}
}
