package vconv

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// DepthTaps emits the micro-kernel of a depthwise convolution of rows of tiles of some pixels, which are apart values from each other. Each pixel's result,
// a block of channels, is start + the sum over k of x[offs[k]+apart*pixel] * w[k]. Results are to values from each other. A row's inputs begin nextX behind
// the end of the row before, its results nextC.
func DepthTaps(s emit.ISA, pixels int) {
	tiles, x, apart := GP64(), emit.GP("x"), emit.GP("apart")
	c, to := emit.GP("c"), emit.GP("to")
	SHLQ(Imm(2), apart)
	SHLQ(Imm(2), to)
	thrice, offs, w, left := GP64(), GP64(), GP64(), GP64()
	LEAQ(Mem{Base: apart, Index: apart, Scale: 2}, thrice)
	floor, start := Load(Param("floor"), GP8()), emit.GP("start")
	Label("row")
	Load(Param("tiles"), tiles)
	emit.Align(64)
	Label("tile")
	acc := started(s, start, pixels, emit.Lanes/s.Width)
	Load(Param("offs"), offs)
	Load(Param("w"), w)
	Load(Param("k"), left)
	emit.Align(32)
	Label("tap")
	at := GP64()
	MOVQ(Mem{Base: offs}, at)
	LEAQ(Mem{Base: x, Index: at, Scale: 4}, at)
	var weights []reg.VecVirtual
	for j := range acc[0] {
		weights = append(weights, s.Load(Mem{Base: w, Disp: 4 * s.Width * j}))
	}
	eachPixel(pixels, at, apart, thrice, func(i int, pixel Mem) {
		for j, weight := range weights {
			VFMADD231PS(pixel.Offset(4*s.Width*j), weight, acc[i][j])
		}
	})
	ADDQ(Imm(8), offs)
	ADDQ(U32(emit.PixelBytes), w)
	DECQ(left)
	JNE(LabelRef("tap"))
	TESTB(floor, floor)
	JEQ(LabelRef("write"))
	zero := s.Zero()
	for _, pixel := range acc {
		for _, v := range pixel {
			VMAXPS(v, zero, v)
		}
	}
	Label("write")
	for _, pixel := range acc {
		for j, v := range pixel {
			VMOVUPS(v, Mem{Base: c, Disp: 4 * s.Width * j})
		}
		ADDQ(to, c)
	}
	IMUL3Q(Imm(uint64(pixels)), apart, left)
	ADDQ(left, x)
	DECQ(tiles)
	JNE(LabelRef("tile"))
	for _, next := range []struct {
		distance string
		of       reg.Register
	}{{"nextX", x}, {"nextC", c}} {
		Load(Param(next.distance), left)
		LEAQ(Mem{Base: next.of, Index: left, Scale: 4}, next.of)
	}
	DECQ(emit.ParamAt("rows"))
	JNE(LabelRef("row"))
	s.Ret()
}

// DepthTapSums emits the micro-kernel of such a convolution's weight gradient: for each of some offsets, a vector of channels of the sum over rows
// of pixels of x[offset+pixel*step] * y[pixel], y's pixels being side by side. A row of x begins nextX behind the end of the one before, a row of
// y nextY. Pixels are added to two sums in turn, which are added at the end.
func DepthTapSums(s emit.ISA, offsets int) {
	rows, offs, base := emit.GP("rows"), emit.GP("offs"), emit.GP("x")
	step, nextX := emit.GP("step"), emit.GP("nextX")
	y, nextY := emit.GP("y"), emit.GP("nextY")
	for _, r := range []reg.Register{step, nextX, nextY} {
		SHLQ(Imm(2), r)
	}
	x := addresses(offs, base, offsets)
	even, odd := s.Accumulators(offsets, 1), s.Accumulators(offsets, 1)
	loop := rowLoop{x: x, y: y, step: step, nextX: nextX, nextY: nextY, rows: rows, begin: 32}
	loop.run(func() {
		first, second := s.Load(Mem{Base: y}), s.Load(Mem{Base: y, Disp: emit.PixelBytes})
		for i := range x {
			VFMADD231PS(Mem{Base: x[i]}, first, even[i][0])
			VFMADD231PS(Mem{Base: x[i], Index: step, Scale: 1}, second, odd[i][0])
			LEAQ(Mem{Base: x[i], Index: step, Scale: 2}, x[i])
		}
	}, func() {
		last := s.Load(Mem{Base: y})
		for i := range x {
			VFMADD231PS(Mem{Base: x[i]}, last, even[i][0])
			ADDQ(step, x[i])
		}
	})
	c, keep := emit.GP("c"), Load(Param("accumulate"), GP8())
	for i := range x {
		VADDPS(even[i][0], odd[i][0], even[i][0])
	}
	storeOrAdd(even, c, keep, func(i, _ int) int { return emit.PixelBytes * i })
	s.Ret()
}
