package vconv

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// Pixels emits the micro-kernel of a pointwise convolution of tiles of some pixels with nv vectors of output channels: C (rows x vectors,
// pixels side by side, vectors jumpC apart) = start + A (rows x 16*blocks, blocks jumpA apart) * B, panels of 32 columns. It prefetches
// to L2 the next tile's pixels; and, on sets with EVEX, to L1 the same pixels of the next block, or the next tile's pixels of the first block, and the
// places of the next results. Tiles of other sets are small: on Zen 3 the hardware's prefetchers bring the lines of L2 in time.
func Pixels(s emit.ISA, rows, nv int) { pixels(s, rows, nv, inFull(s)) }

// Pairs emits Pixels for pairs of bfloat16 values in the place of values: a block has 32 channels.
func Pairs(s emit.ISA, rows, nv int) {
	f := inFull(s)
	f.multiply = s.AddPairs
	pixels(s, rows, nv, f)
}

// Halves emits Pixels for weights that are pairs of bfloat16 values: a place has those of two channels, the even one in the low half. A has the odd channel of a pair
// before the even one.
func Halves(s emit.ISA, rows, nv int) {
	f := inFull(s)
	f.at = func(u, j int) int { return 2*emit.PixelBytes*(u/2) + 4*s.Width*j }
	f.load = func(u int, at Mem) reg.VecVirtual {
		if u%2 == 0 {
			return s.And(s.Load(at), s.Bits(0xffff0000))
		}
		return s.Shl(s.Load(at), 16)
	}
	pixels(s, rows, nv, f)
}

// Bytes emits Pixels for four bytes in the place of a value, those of A without a sign but on sets with Elements: a block has 64 channels, and sums are 32-bit integers,
// which start and what it accumulates are too. With last, it stores sums * scale + bias.
func Bytes(s emit.ISA, rows, nv int) {
	f := inFull(s)
	f.multiply, f.element, f.put = s.AddBytes, emit.AddByteProduct, putScaled
	pixels(s, rows, nv, f)
}

// Words emits Bytes for pairs of 16-bit integers in the place of a value, and weights in bytes: a block has 32 channels, for each of which B has 32 bytes.
func Words(s emit.ISA, rows, nv int) {
	f := inFull(s)
	f.multiply, f.put = s.AddWords, putScaled
	f.at = func(u, j int) int { return emit.PixelBytes*u + 2*s.Width*j }
	f.load = func(_ int, at Mem) reg.VecVirtual {
		v := s.V()
		VPMOVSXBW(at, v)
		return v
	}
	pixels(s, rows, nv, f)
}

// factors are a number type of Pixels: where vector j of weights of row u is, in bytes, how it is loaded, how a value or, on sets with Elements, a lane is
// multiplied with vectors, and how a tile ends.
type factors struct {
	at       func(u, j int) int
	load     func(u int, at Mem) reg.VecVirtual
	multiply emit.Multiply
	element  func(lane int, values, v, sum reg.VecVirtual)
	put      func(s emit.ISA, acc [][]reg.VecVirtual, column func(j int) Mem)
}

// inFull are factors in float32.
func inFull(s emit.ISA) factors {
	return factors{
		at:       func(u, j int) int { return 2*emit.PixelBytes*u + 4*s.Width*j },
		load:     func(_ int, at Mem) reg.VecVirtual { return s.Load(at) },
		multiply: s.AddProducts, element: emit.AddProduct, put: putPixels,
	}
}

func pixels(s emit.ISA, rows, nv int, f factors) {
	Label("tile")
	blocks, a, jumpA := emit.GP("blocks"), emit.GP("a"), emit.GP("jumpA")
	b, start := emit.GP("b"), emit.GP("start")
	SHLQ(Imm(2), jumpA)
	acc := started(s, start, rows, nv)
	const unroll = 4
	lines := (rows*unroll + emit.Lanes - 1) / emit.Lanes // of the next pixels, fetched in one of the turns of a block
	near, far, turns := GP64(), GP64(), GP64()
	after := GP64()
	LEAQ(Mem{Base: a, Disp: rows * emit.PixelBytes}, after)
	MOVQ(after, emit.ParamAt("a"))
	fetchResults := func() {}
	if s.EVEX {
		ahead, jump, beside := emit.GP("ahead"), emit.GP("jumpAhead"), emit.GP("beside")
		SHLQ(Imm(2), jump)
		ADDQ(U32(uint32(rows*emit.PixelBytes)), emit.ParamAt("ahead"))
		fetchResults = laterResults(s, ahead, jump, beside, rows, nv)
	}
	emit.Align(64)
	Label("block")
	LEAQ(Mem{Base: a, Disp: rows * emit.PixelBytes}, far)
	if s.EVEX {
		LEAQ(Mem{Base: a, Index: jumpA, Scale: 1}, near)
		CMPQ(blocks, Imm(1))
		CMOVQEQ(after, near)
	}
	MOVQ(U32(emit.Lanes/unroll), turns)
	emit.Align(32)
	Label("several")
	var values []reg.VecVirtual
	for i := range acc {
		if s.Elements { // unroll values of each pixel
			values = append(values, s.Load(Mem{Base: a, Disp: i * emit.PixelBytes}))
		}
	}
	for u := range unroll {
		vectors := make([]reg.VecVirtual, nv)
		for j := range vectors {
			vectors[j] = f.load(u, Mem{Base: b, Disp: f.at(u, j)})
		}
		if u < lines {
			if s.EVEX {
				PREFETCHT0(Mem{Base: near, Disp: u * emit.PixelBytes})
			}
			PREFETCHT1(Mem{Base: far, Disp: u * emit.PixelBytes})
		}
		for i := range acc {
			if s.Elements {
				for j, v := range vectors {
					f.element(u, values[i], v, acc[i][j])
				}
			} else {
				f.multiply(acc[i], Mem{Base: a, Disp: i*emit.PixelBytes + 4*u}, vectors, i%6 == 1)
			}
		}
	}
	fetchResults()
	ADDQ(Imm(4*unroll), a)
	ADDQ(U32(uint32(f.at(unroll, 0))), b)
	if s.EVEX {
		ADDQ(U32(uint32(emit.PixelBytes*lines)), near)
	}
	ADDQ(U32(uint32(emit.PixelBytes*lines)), far)
	DECQ(turns)
	JNE(LabelRef("several"))
	LEAQ(Mem{Base: a, Index: jumpA, Scale: 1, Disp: -emit.PixelBytes}, a)
	DECQ(blocks)
	JNE(LabelRef("block"))
	c, jumpC := emit.GP("c"), emit.GP("jumpC")
	SHLQ(Imm(2), jumpC)
	ADDQ(U32(uint32(rows*emit.PixelBytes)), emit.ParamAt("c"))
	f.put(s, acc, column(s, c, jumpC))
	DECQ(emit.ParamAt("tiles"))
	JNE(LabelRef("tile"))
	s.Ret()
}

// RoundPixels emits the conversion of blocks of 16 channels of n pixels to pairs: dst gets the channels of low and then those of high, which advance by
// stepLow and stepHigh values a pixel.
func RoundPixels(s emit.ISA) { roundPairs(s, func(pairs reg.VecVirtual) {}) }

// RoundRows emits RoundPixels for pairs of a channel's values in low and high.
func RoundRows(s emit.ISA) {
	order := s.Load(s.Words("neighbours", func(lane int) int { return lane | (16+lane)<<16 }))
	roundPairs(s, func(pairs reg.VecVirtual) { VPERMW(pairs, order, pairs) })
}

func roundPairs(s emit.ISA, arrange func(pairs reg.VecVirtual)) {
	dst, low, high, stepLow, stepHigh, n := emit.GP("dst"), emit.GP("low"), emit.GP("high"), emit.GP("stepLow"), emit.GP("stepHigh"), emit.GP("n")
	SHLQ(Imm(2), stepLow)
	SHLQ(Imm(2), stepHigh)
	Label("pixel")
	pairs := s.V()
	emit.RoundPairs(Mem{Base: low}, s.Load(Mem{Base: high}), pairs)
	arrange(pairs)
	VMOVUPS(pairs, Mem{Base: dst})
	ADDQ(U32(emit.PixelBytes), dst)
	ADDQ(stepLow, low)
	ADDQ(stepHigh, high)
	DECQ(n)
	JNE(LabelRef("pixel"))
	s.Ret()
}

// AddPairs emits the addition of the first or second block of channels of n pixels of pairs, which src points to.
func AddPairs(s emit.ISA) {
	dst, src, n := emit.GP("dst"), emit.GP("src"), emit.GP("n")
	Label("pixel")
	v := s.V()
	VPMOVZXWD(Mem{Base: src}, v)
	VPSLLD(Imm(16), v, v)
	VADDPS(Mem{Base: dst}, v, v)
	VMOVUPS(v, Mem{Base: dst})
	ADDQ(U32(emit.PixelBytes), dst)
	ADDQ(U32(emit.PixelBytes), src)
	DECQ(n)
	JNE(LabelRef("pixel"))
	s.Ret()
}

// laterResults returns what fetches a line of each vector of the next tile's results, one pixel after the other, and with beside, unless it is nil, of what lies so many bytes behind them; without
// EVEX it does nothing.
func laterResults(s emit.ISA, c, jumpC, beside reg.Register, rows, nv int) (fetch func()) {
	if !s.EVEX {
		return func() {}
	}
	later, last := GP64(), GP64()
	LEAQ(Mem{Base: c, Disp: rows * emit.PixelBytes}, later)
	LEAQ(Mem{Base: c, Disp: (2*rows - 1) * emit.PixelBytes}, last)
	return func() {
		lines := []reg.Register{later}
		if beside != nil {
			lines = append(lines, GP64())
			LEAQ(Mem{Base: later, Index: beside, Scale: 1}, lines[1])
		}
		for _, line := range lines {
			PREFETCHT0(Mem{Base: line})
			if 4*s.Width*nv > emit.PixelBytes {
				PREFETCHT0(Mem{Base: line, Index: jumpC, Scale: 1})
			}
		}
		ADDQ(Imm(emit.PixelBytes), later)
		CMPQ(later, last)
		CMOVQGT(last, later)
	}
}

// started are accumulators; each row is set to the vectors at start.
func started(s emit.ISA, start reg.Register, rows, nv int) [][]reg.VecVirtual {
	acc := make([][]reg.VecVirtual, rows)
	for i := range acc {
		for j := range nv {
			acc[i] = append(acc[i], s.V())
			if i == 0 {
				VMOVUPS(Mem{Base: start, Disp: 4 * s.Width * j}, acc[0][j])
			} else {
				VMOVAPS(acc[0][j], acc[i][j])
			}
		}
	}
	return acc
}

// putPixels stores the pixels of each vector, or adds them if accumulate is set. With floor, values below 0 become 0.
func putPixels(s emit.ISA, acc [][]reg.VecVirtual, column func(j int) Mem) {
	keep := Load(Param("accumulate"), GP8())
	TESTB(keep, keep)
	JEQ(LabelRef("rectify"))
	for i := range acc {
		for j := range acc[i] {
			VADDPS(column(j).Offset(i*emit.PixelBytes), acc[i][j], acc[i][j])
		}
	}
	Label("rectify")
	writePixels(s, acc, column)
}

// writePixels stores the pixels of each vector. With floor, values below 0 become 0.
func writePixels(s emit.ISA, acc [][]reg.VecVirtual, column func(j int) Mem) {
	floor := Load(Param("floor"), GP8())
	TESTB(floor, floor)
	JEQ(LabelRef("write"))
	zero := s.Zero()
	for i := range acc {
		for j := range acc[i] {
			VMAXPS(acc[i][j], zero, acc[i][j])
		}
	}
	Label("write")
	for j := range acc[0] {
		for i := range acc {
			VMOVUPS(acc[i][j], column(j).Offset(i*emit.PixelBytes))
		}
	}
}

// putScaled stores sums, integers, to which it adds others if accumulate is set; with last, their products with the channels' scales, plus bias.
func putScaled(s emit.ISA, acc [][]reg.VecVirtual, column func(j int) Mem) {
	keep := Load(Param("accumulate"), GP8())
	TESTB(keep, keep)
	JEQ(LabelRef("ended"))
	for i := range acc {
		for j := range acc[i] {
			VPADDD(column(j).Offset(i*emit.PixelBytes), acc[i][j], acc[i][j])
		}
	}
	Label("ended")
	last := Load(Param("last"), GP8())
	TESTB(last, last)
	JEQ(LabelRef("write"))
	scale, bias := emit.GP("scale"), emit.GP("bias")
	for j := range acc[0] {
		factor, added := s.Load(Mem{Base: scale, Disp: 4 * s.Width * j}), s.Load(Mem{Base: bias, Disp: 4 * s.Width * j})
		for i := range acc {
			VCVTDQ2PS(acc[i][j], acc[i][j])
			VMULPS(factor, acc[i][j], acc[i][j])
			VADDPS(added, acc[i][j], acc[i][j])
		}
	}
	writePixels(s, acc, column)
}

// LeastByte is the byte that ToBytes makes of the least value: sets with Elements multiply bytes with signs.
func LeastByte(s emit.ISA) int {
	if s.Elements {
		return -128
	}
	return 0
}

// ToBytes emits the conversion of a block of 16 channels of n pixels to bytes, a quarter of a block of Bytes: rounded to nearest even after the product with the
// first number at with, and at least the second and at most the third, from which bytes count, beginning with LeastByte.
func ToBytes(s emit.ISA) {
	dst, src, n, with := emit.GP("dst"), emit.GP("src"), emit.GP("n"), emit.GP("with")
	factor, low, high := s.V(), s.V(), s.V()
	for i, v := range []reg.VecVirtual{factor, low, high} {
		VBROADCASTSS(Mem{Base: with, Disp: 4 * i}, v)
	}
	first := s.V()
	VCVTPS2DQ(low, first)
	if least := LeastByte(s); least != 0 {
		VPADDD(s.Bits(uint32(-least)), first, first)
	}
	Label("pixel")
	for at := 0; at < emit.Lanes; at += s.Width {
		v := s.V()
		VMULPS(Mem{Base: src, Disp: 4 * at}, factor, v)
		VMAXPS(low, v, v) // low where v is NaN
		VMINPS(high, v, v)
		VCVTPS2DQ(v, v)
		VPSUBD(first, v, v)
		if s.EVEX {
			VPMOVDB(v, Mem{Base: dst, Disp: at})
		} else {
			VPACKSSDW(v, v, v)
			VPACKSSWB(v, v, v)
			VMOVD(v, Mem{Base: dst, Disp: at})
		}
	}
	ADDQ(U32(emit.PixelBytes), dst)
	ADDQ(U32(emit.PixelBytes), src)
	DECQ(n)
	JNE(LabelRef("pixel"))
	s.Ret()
}

// ToWords emits the same conversion to 16-bit integers from the second number to the third, half a block of Words.
func ToWords(s emit.ISA) {
	dst, src, n, with := emit.GP("dst"), emit.GP("src"), emit.GP("n"), emit.GP("with")
	factor, low, high := s.V(), s.V(), s.V()
	for i, v := range []reg.VecVirtual{factor, low, high} {
		VBROADCASTSS(Mem{Base: with, Disp: 4 * i}, v)
	}
	Label("pixel")
	var parts []reg.VecVirtual
	for at := 0; at < emit.Lanes; at += s.Width {
		v := s.V()
		VMULPS(Mem{Base: src, Disp: 4 * at}, factor, v)
		VMAXPS(low, v, v) // low where v is NaN
		VMINPS(high, v, v)
		VCVTPS2DQ(v, v)
		parts = append(parts, v)
	}
	if s.EVEX {
		VPMOVDW(parts[0], Mem{Base: dst})
	} else {
		VPACKSSDW(parts[1], parts[0], parts[0])
		VPERMQ(Imm(0b11_01_10_00), parts[0], parts[0])
		VMOVDQU(parts[0], Mem{Base: dst})
	}
	ADDQ(U32(emit.PixelBytes), dst)
	ADDQ(U32(emit.PixelBytes), src)
	DECQ(n)
	JNE(LabelRef("pixel"))
	s.Ret()
}

// ToWhole emits the same rounding of n blocks of 16 values to whole numbers, from the second number to the third. The fourth is added and subtracted: float32
// numbers as large are whole.
func ToWhole(s emit.ISA) {
	dst, src, n, with := emit.GP("dst"), emit.GP("src"), emit.GP("n"), emit.GP("with")
	factor, low, high, whole := s.V(), s.V(), s.V(), s.V()
	for i, v := range []reg.VecVirtual{factor, low, high, whole} {
		VBROADCASTSS(Mem{Base: with, Disp: 4 * i}, v)
	}
	Label("block")
	for at := 0; at < emit.PixelBytes; at += 4 * s.Width {
		v := s.V()
		VMULPS(Mem{Base: src, Disp: at}, factor, v)
		VMAXPS(low, v, v) // low where v is NaN
		VMINPS(high, v, v)
		VADDPS(whole, v, v)
		VSUBPS(whole, v, v)
		VMOVUPS(v, Mem{Base: dst, Disp: at})
	}
	ADDQ(U32(emit.PixelBytes), dst)
	ADDQ(U32(emit.PixelBytes), src)
	DECQ(n)
	JNE(LabelRef("block"))
	s.Ret()
}

// PixelSums emits the micro-kernel of such a convolution's weight gradient, for tiles of rows: C (rows of output channels x vectors of
// input channels) (+)= the sum over runs of pixels of A (rows of a block, pixels 16 values apart, runs nextA) times B (vectors jumpB
// apart, runs nextB). After each tile A advances by stepA and thenA in turn. Each tile prefetches as many pixels from ahead, which advances by
// jumpAhead.
func PixelSums(s emit.ISA, rows, nv int) { pixelSums(s, rows, nv, s.AddProducts) }

// PairSums emits PixelSums for pairs of bfloat16 values: those of two neighbouring pixels.
func PairSums(s emit.ISA, rows, nv int) { pixelSums(s, rows, nv, s.AddPairs) }

// pixelSums emits PixelSums with the given multiplication of a value and some vectors.
func pixelSums(s emit.ISA, rows, nv int, multiply emit.Multiply) {
	Label("tile")
	runs, pixels := emit.GP("runs"), emit.GP("pixels")
	a, nextA := emit.GP("a"), emit.GP("nextA")
	b, jumpB, nextB := emit.GP("b"), emit.GP("jumpB"), emit.GP("nextB")
	ahead, nextAhead := emit.GP("ahead"), emit.GP("nextAhead")
	for _, r := range []reg.Register{nextA, jumpB, nextB, nextAhead} {
		SHLQ(Imm(2), r)
	}
	acc := s.Accumulators(rows, nv)
	fetchTile(s, rows, nv)
	step := func(u int) {
		at := Mem{Base: b, Disp: u * emit.PixelBytes}
		vectors := []reg.VecVirtual{s.Load(at)}
		for j := 1; j < nv; j++ {
			if nv*s.Width == emit.Lanes { // vectors of one block
				at.Disp += 4 * s.Width
			} else {
				at.Index, at.Scale = jumpB, uint8(j)
			}
			vectors = append(vectors, s.Load(at))
		}
		s.AddColumn(acc, Mem{Base: a, Disp: u * emit.PixelBytes}, vectors, func(i int) bool { return i%6 == 1 }, multiply)
	}
	const unroll = 4
	left := GP64()
	Label("run")
	MOVQ(pixels, left)
	CMPQ(left, U32(unroll))
	JLT(LabelRef("one"))
	emit.Align(64)
	Label("several")
	for u := range unroll {
		PREFETCHT1(Mem{Base: ahead, Disp: u * emit.PixelBytes})
		step(u)
	}
	ADDQ(U32(unroll*emit.PixelBytes), ahead)
	ADDQ(U32(unroll*emit.PixelBytes), a)
	ADDQ(U32(unroll*emit.PixelBytes), b)
	SUBQ(U32(unroll), left)
	emit.Align(32)
	CMPQ(left, U32(unroll))
	JGE(LabelRef("several"))
	Label("one")
	TESTQ(left, left)
	JEQ(LabelRef("next"))
	step(0)
	for _, r := range []reg.Register{a, b, ahead} {
		ADDQ(U32(emit.PixelBytes), r)
	}
	DECQ(left)
	JMP(LabelRef("one"))
	Label("next")
	ADDQ(nextA, a)
	ADDQ(nextB, b)
	ADDQ(nextAhead, ahead)
	DECQ(runs)
	JNE(LabelRef("run"))
	c, ldc := emit.Place()
	s.StoreTile(acc, c, ldc, func() { nextTile(c) })
}

// nextTile advances the parameters to the next tile, whose C is at c, and starts it unless the last tile is done.
func nextTile(c reg.Register) {
	MOVQ(c, emit.ParamAt("c"))
	step, then, at := emit.GP("stepA"), emit.GP("thenA"), emit.GP("a")
	LEAQ(Mem{Base: at, Index: step, Scale: 4}, at)
	MOVQ(at, emit.ParamAt("a"))
	MOVQ(then, emit.ParamAt("stepA"))
	MOVQ(step, emit.ParamAt("thenA"))
	jump, later := emit.GP("jumpAhead"), emit.GP("ahead")
	LEAQ(Mem{Base: later, Index: jump, Scale: 4}, later)
	MOVQ(later, emit.ParamAt("ahead"))
	DECQ(emit.ParamAt("tiles"))
	JNE(LabelRef("tile"))
}

// fetchTile fetches the lines of the tile of C.
func fetchTile(s emit.ISA, rows, nv int) {
	c, ldc := emit.GP("c"), emit.GP("ldc")
	for range rows {
		for j := range nv {
			PREFETCHT0(Mem{Base: c, Disp: j * 4 * s.Width})
		}
		LEAQ(Mem{Base: c, Index: ldc, Scale: 4}, c)
	}
}
