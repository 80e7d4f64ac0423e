package vconv

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// Offsets emits the micro-kernel of a convolution of some pixels, which are apart values from each other, with nv vectors of output
// channels: C (rows x vectors, pixels side by side, vectors jumpC apart) = start + the sum over k of x[offs[k]+apart*pixel] * B[k], rows of
// 32 columns; and the same for further tiles of as many pixels. With EVEX it fetches the places of the next tile's results to L1.
func Offsets(s emit.ISA, rows, nv int) { offsets(s, rows, nv, s.AddProducts) }

// OffsetPairs emits Offsets for pairs of bfloat16 values in the place of values.
func OffsetPairs(s emit.ISA, rows, nv int) { offsets(s, rows, nv, s.AddPairs) }

func offsets(s emit.ISA, rows, nv int, multiply emit.Multiply) {
	tiles, x := emit.GP("tiles"), emit.GP("x")
	apart := emit.GP("apart")
	c, jumpC := emit.GP("c"), emit.GP("jumpC")
	SHLQ(Imm(2), apart)
	SHLQ(Imm(2), jumpC)
	column := column(s, c, jumpC)
	thrice, offs, b, step := GP64(), GP64(), GP64(), GP64()
	LEAQ(Mem{Base: apart, Index: apart, Scale: 2}, thrice)
	Label("tile")
	start := emit.GP("start")
	acc := started(s, start, rows, nv)
	Load(Param("b"), b)
	Load(Param("offs"), offs)
	Load(Param("k"), step)
	fetchResults := laterResults(s, c, jumpC, nil, rows, nv)
	TESTQ(U32(1), step)
	JEQ(LabelRef("two"))
	SUBQ(Imm(8), offs)
	SUBQ(U32(2*emit.PixelBytes), b)
	INCQ(step)
	JMP(LabelRef("second"))
	emit.Align(64)
	Label("two")
	for u := range 2 {
		if u == 1 {
			Label("second")
			fetchResults()
		}
		at := GP64()
		MOVQ(Mem{Base: offs, Disp: 8 * u}, at)
		LEAQ(Mem{Base: x, Index: at, Scale: 4}, at)
		vectors := make([]reg.VecVirtual, nv)
		for j := range vectors {
			vectors[j] = s.Load(Mem{Base: b, Disp: 2*emit.PixelBytes*u + 4*s.Width*j})
		}
		eachPixel(rows, at, apart, thrice, func(i int, pixel Mem) { multiply(acc[i], pixel, vectors, i%4 == 0) })
	}
	ADDQ(Imm(16), offs)
	ADDQ(U32(4*emit.PixelBytes), b)
	emit.Align(32)
	SUBQ(Imm(2), step)
	JNE(LabelRef("two"))
	putPixels(s, acc, column)
	ADDQ(U32(rows*emit.PixelBytes), c)
	IMUL3Q(Imm(uint64(rows)), apart, step)
	ADDQ(step, x)
	DECQ(tiles)
	JNE(LabelRef("tile"))
	s.Ret()
}

// OffsetSums emits the micro-kernel of such a convolution's weight gradient: C (kernel offsets, width of each of some lines, x nv vectors
// of output channels, rows of 32 columns) (+)= the sum over rows of pixels of x[offs[line]+pixel*step+offset] times Y (pixels side by
// side, vectors jumpY apart). A row of x begins nextX behind the end of the one before, a row of Y nextY. It prefetches as many pixels from
// ahead.
func OffsetSums(s emit.ISA, lines, width, nv int) {
	rows := emit.GP("rows")
	offs, base := emit.GP("offs"), emit.GP("x")
	step, nextX := emit.GP("step"), emit.GP("nextX")
	y, jumpY, nextY := emit.GP("y"), emit.GP("jumpY"), emit.GP("nextY")
	ahead := emit.GP("ahead")
	for _, r := range []reg.Register{step, nextX, jumpY, nextY} {
		SHLQ(Imm(2), r)
	}
	x, columns := addresses(offs, base, lines), column(s, y, jumpY)
	acc := s.Accumulators(lines*width, nv)
	pixel := func(u int) {
		vectors := make([]reg.VecVirtual, nv)
		for j := range vectors {
			vectors[j] = s.Load(columns(j).Offset(u * emit.PixelBytes))
		}
		for i := range acc {
			at := Mem{Base: x[i/width], Disp: 4 * (i % width)}
			if u > 0 {
				at.Index, at.Scale = step, 1
			}
			s.AddProducts(acc[i], at, vectors, u == 0 && i%6 == 1)
		}
	}
	loop := rowLoop{x: x, y: y, step: step, nextX: nextX, nextY: nextY, rows: rows, begin: 64, end: 32}
	loop.run(func() {
		for u := range 2 {
			PREFETCHT1(Mem{Base: ahead, Disp: u * emit.PixelBytes})
			pixel(u)
		}
		ADDQ(U32(2*emit.PixelBytes), ahead)
		for l := range x {
			LEAQ(Mem{Base: x[l], Index: step, Scale: 2}, x[l])
		}
	}, func() {
		pixel(0)
		for l := range x {
			ADDQ(step, x[l])
		}
	})
	c, keep := emit.GP("c"), Load(Param("accumulate"), GP8())
	storeOrAdd(acc, c, keep, func(i, j int) int { return 2*emit.PixelBytes*i + 4*s.Width*j })
	s.Ret()
}
