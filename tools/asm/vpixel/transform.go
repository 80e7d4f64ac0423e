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

// Transform emits the inverse cosine transform of pairs of blocks: each half of a vector of AVX2 has a row of one of them. NEON's vectors have a row of one
// block, and hold what AVX2 has no registers for.
func Transform(s emit.ISA) {
	out, stride, values, quant := emit.GP("out"), emit.GP("stride"), emit.GP("values"), emit.GP("quant")
	var odds Mem
	if s.Registers < 32 {
		odds = AllocLocal(8 * 4 * s.Width)
	}
	eachVector(s, "pairs", func() {
		rows := dequantise(s, values, quant)
		columns := pass(s, rows, odds, fraction-kept)
		lines := pass(s, transpose(s, columns), odds, fraction+kept+3)
		store(s, bytes(s, lines), out, stride)

		ADDQ(U32(32*s.Width), values)
		ADDQ(Imm(uint64(2*s.Width)), out)
	})
	s.Ret()
}

// dequantise loads the rows of blocks and multiplies them. A block without coefficients below its first row does not saturate in the first
// pass, but wraps: then the first row has 14 bits.
func dequantise(s emit.ISA, values, quant reg.Register) (rows [8]vector) {
	below := s.V()
	for y := 7; y >= 0; y-- {
		r := rowOf(s, values, y)
		if s.Width > 4 {
			VINSERTI128(Imm(1), Mem{Base: values, Disp: 128 + 16*y}, r, r)
		}
		switch y {
		case 7:
			VMOVDQA(r, below)
		case 0:
		default:
			VPOR(r, below, below)
		}
		VPMULLW(rowOf(s, quant, y), r, r)
		rows[y] = r
	}
	zero := s.V()
	VPXOR(zero, zero, zero)
	VPCMPEQD(zero, below, below)
	t := s.V()
	for _, order := range []uint64{0x4e, 0xb1} {
		VPSHUFD(U8(order), below, t)
		VPAND(t, below, below)
	}
	VPSLLW(Imm(kept), rows[0], t)
	VPSRAW(Imm(kept), t, t)
	VPBLENDVB(below, t, rows[0], rows[0])
	return rows
}

// rowOf loads row y of a block, to both halves of a vector of AVX2. A move of half a register would let avo keep the other half alive.
func rowOf(s emit.ISA, block reg.Register, y int) vector {
	r := s.V()
	if s.Width == 4 {
		VMOVDQU(Mem{Base: block, Disp: 16 * y}, r)
	} else {
		VBROADCASTI128(Mem{Base: block, Disp: 16 * y}, r)
	}
	return r
}

// pair is a constant vector of pairs of words.
func pair(s emit.ISA, a, b int) Mem {
	return s.Bits(uint32(uint16(a)) | uint32(uint16(b))<<16)
}

// pass emits one pass over the eight vectors v, whose results lose some bits.
func pass(s emit.ISA, v [8]vector, odds Mem, bits int) (out [8]vector) {
	var saved [4][2]Op
	z3, z4 := s.Op(VPADDW, v[7], v[3]), s.Op(VPADDW, v[5], v[1])
	for half, unpack := range []func(...Op){VPUNPCKLWD, VPUNPCKHWD} {
		z := s.Op(unpack, z4, z3)
		p, q := s.Op(VPMADDWD, pair(s, f1175-f1961, f1175), z), s.Op(VPMADDWD, pair(s, f1175, f1175-f0390), z)
		save := func(i int, from vector, a, b int, more vector) {
			r := s.Op(VPMADDWD, pair(s, a, b), from)
			VPADDD(more, r, r)
			saved[i][half] = r
			if s.Registers < 32 {
				m := odds.Offset(64*i + 32*half)
				VMOVDQU(r, m)
				saved[i][half] = m
			}
		}
		u := s.Op(unpack, v[1], v[7])
		save(0, u, -f0899, f1501-f0899, q)
		save(3, u, f0298-f0899, -f0899, p)
		u = s.Op(unpack, v[3], v[5])
		save(1, u, -f2562, f3072-f2562, p)
		save(2, u, f2053-f2562, -f2562, q)
	}
	sum, difference := s.Op(VPADDW, v[4], v[0]), s.Op(VPSUBW, v[4], v[0])
	low, high := s.Op(VPUNPCKLWD, v[6], v[2]), s.Op(VPUNPCKHWD, v[6], v[2])
	for i, e := range []struct {
		base     vector
		factor   Mem
		subtract bool
	}{
		{sum, pair(s, f1306, f0541), false},
		{difference, pair(s, f0541, f0541-f1847), false},
		{difference, pair(s, f0541, f0541-f1847), true},
		{sum, pair(s, f1306, f0541), true},
	} {
		var up, down [2]vector
		for half, from := range []vector{low, high} {
			m := s.Op(VPMADDWD, e.factor, from)
			r := s.V()
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
			VPADDD(s.Bits(1<<(bits-1)), r, r)
			up[half], down[half] = s.Op(VPADDD, saved[i][half], r), s.Op(VPSUBD, saved[i][half], r)
			VPSRAD(U8(bits), up[half], up[half])
			VPSRAD(U8(bits), down[half], down[half])
		}
		out[i], out[7-i] = s.Op(VPACKSSDW, up[1], up[0]), s.Op(VPACKSSDW, down[1], down[0])
	}
	return out
}

// transpose exchanges rows and columns of the words of each half.
func transpose(s emit.ISA, v [8]vector) [8]vector {
	var a, b [8]vector
	for i := range 4 { // words of vectors i and i+4 side by side
		a[2*i], a[2*i+1] = s.Op(VPUNPCKLWD, v[i+4], v[i]), s.Op(VPUNPCKHWD, v[i+4], v[i])
	}
	// Of a, 0 and 1 have vectors 0 and 4, 2 and 3 have 1 and 5, 4 and 5 have 2 and 6, 6 and 7 have 3 and 7.
	for i := range 2 { // vectors i, i+2, i+4 and i+6
		b[4*i], b[4*i+1] = s.Op(VPUNPCKLWD, a[2*i+4], a[2*i]), s.Op(VPUNPCKHWD, a[2*i+4], a[2*i])
		b[4*i+2], b[4*i+3] = s.Op(VPUNPCKLWD, a[2*i+5], a[2*i+1]), s.Op(VPUNPCKHWD, a[2*i+5], a[2*i+1])
	}
	var c [8]vector
	for i := range 4 {
		c[2*i], c[2*i+1] = s.Op(VPUNPCKLWD, b[i+4], b[i]), s.Op(VPUNPCKHWD, b[i+4], b[i])
	}
	return c
}

// bytes emits samples from words: four vectors, each with two rows of both blocks.
func bytes(s emit.ISA, v [8]vector) (rows [4]vector) {
	var p [4]vector
	for i := range 4 {
		p[i] = s.Op(VPACKSSWB, v[i+4], v[i])
		VPADDB(s.Bits(0x80808080), p[i], p[i])
	}
	// Rows of v are columns of the blocks. Of p, i has columns i and i+4.
	c01, c45 := s.Op(VPUNPCKLBW, p[1], p[0]), s.Op(VPUNPCKHBW, p[1], p[0])
	c23, c67 := s.Op(VPUNPCKLBW, p[3], p[2]), s.Op(VPUNPCKHBW, p[3], p[2])
	for i, unpack := range []func(...Op){VPUNPCKLWD, VPUNPCKHWD} {
		left, right := s.Op(unpack, c23, c01), s.Op(unpack, c67, c45)
		rows[2*i], rows[2*i+1] = s.Op(VPUNPCKLDQ, right, left), s.Op(VPUNPCKHDQ, right, left)
	}
	return rows
}

// store writes 8 rows of samples.
func store(s emit.ISA, rows [4]vector, out, stride reg.Register) {
	at := GP64()
	MOVQ(out, at)
	for _, r := range rows {
		if s.Width == 4 {
			VMOVLPS(r, Mem{Base: at})
			VMOVHPS(r, Mem{Base: at, Index: stride, Scale: 1})
			LEAQ(Mem{Base: at, Index: stride, Scale: 2}, at)
			continue
		}
		VPERMQ(U8(0xd8), r, r) // the first row of both blocks, then the second
		VMOVDQU(r.AsX(), Mem{Base: at})
		VEXTRACTI128(Imm(1), r, Mem{Base: at, Index: stride, Scale: 1})
		LEAQ(Mem{Base: at, Index: stride, Scale: 2}, at)
	}
}
