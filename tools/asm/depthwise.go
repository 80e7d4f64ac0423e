package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// depthTaps emits the micro kernel of a depthwise convolution of some pixels, which lie apart values from each other, and of further tiles of as
// many: a vector of channels of each becomes start + the sum over k of x[offs[k]+apart*pixel] * w[k]. Results are to values from each other.
func (s isa) depthTaps(pixels int) {
	tiles, x, apart := Load(Param("tiles"), GP64()), Load(Param("x"), GP64()), Load(Param("apart"), GP64())
	c, to := Load(Param("c"), GP64()), Load(Param("to"), GP64())
	SHLQ(Imm(2), apart)
	SHLQ(Imm(2), to)
	thrice, offs, w, left := GP64(), GP64(), GP64(), GP64()
	LEAQ(Mem{Base: apart, Index: apart, Scale: 2}, thrice)
	floor, start := Load(Param("floor"), GP8()), Load(Param("start"), GP64())
	align(64)
	Label("tile")
	acc := make([]reg.VecVirtual, pixels)
	for i := range acc {
		acc[i] = s.v()
		if i == 0 {
			VMOVUPS(Mem{Base: start}, acc[0])
		} else {
			VMOVAPS(acc[0], acc[i])
		}
	}
	Load(Param("offs"), offs)
	Load(Param("w"), w)
	Load(Param("k"), left)
	align(32)
	Label("tap")
	at := GP64()
	MOVQ(Mem{Base: offs}, at)
	LEAQ(Mem{Base: x, Index: at, Scale: 4}, at)
	weight := s.load(Mem{Base: w})
	for i := range acc {
		pixel := Mem{Base: at}
		switch i % 4 {
		case 0:
			if i > 0 {
				LEAQ(Mem{Base: at, Index: apart, Scale: 4}, at)
			}
		case 3:
			pixel.Index, pixel.Scale = thrice, 1
		default:
			pixel.Index, pixel.Scale = apart, uint8(i%4)
		}
		VFMADD231PS(pixel, weight, acc[i])
	}
	ADDQ(Imm(8), offs)
	ADDQ(U32(pixelBytes), w)
	DECQ(left)
	JNE(LabelRef("tap"))
	TESTB(floor, floor)
	JEQ(LabelRef("write"))
	zero := s.zero()
	for i := range acc {
		VMAXPS(acc[i], zero, acc[i])
	}
	Label("write")
	for i := range acc {
		VMOVUPS(acc[i], Mem{Base: c})
		ADDQ(to, c)
	}
	IMUL3Q(Imm(uint64(pixels)), apart, left)
	ADDQ(left, x)
	DECQ(tiles)
	JNE(LabelRef("tile"))
	VZEROUPPER()
	RET()
}

// depthTapSums emits the micro kernel of such a convolution's weight gradient: for each of some offsets, a vector of channels of the sum over rows
// of pixels of x[offset+pixel*step] * y[pixel], y's pixels being side by side. Rows of x begin nextX behind the last one's end, those of
// y nextY. Pixels take turns in two sums, which are added at the end.
func (s isa) depthTapSums(offsets int) {
	rows, offs, base := Load(Param("rows"), GP64()), Load(Param("offs"), GP64()), Load(Param("x"), GP64())
	step, nextX := Load(Param("step"), GP64()), Load(Param("nextX"), GP64())
	y, nextY := Load(Param("y"), GP64()), Load(Param("nextY"), GP64())
	for _, r := range []reg.Register{step, nextX, nextY} {
		SHLQ(Imm(2), r)
	}
	x := make([]reg.GPVirtual, offsets)
	for i := range x {
		x[i] = GP64()
		MOVQ(Mem{Base: offs, Disp: 8 * i}, x[i])
		LEAQ(Mem{Base: base, Index: x[i], Scale: 4}, x[i])
	}
	even, odd := s.accumulators(offsets, 1), s.accumulators(offsets, 1)
	left := GP64()
	Label("row")
	Load(Param("pixels"), left)
	SUBQ(Imm(2), left)
	JLT(LabelRef("one"))
	align(32)
	Label("two")
	first, second := s.load(Mem{Base: y}), s.load(Mem{Base: y, Disp: pixelBytes})
	for i := range x {
		VFMADD231PS(Mem{Base: x[i]}, first, even[i][0])
		VFMADD231PS(Mem{Base: x[i], Index: step, Scale: 1}, second, odd[i][0])
		LEAQ(Mem{Base: x[i], Index: step, Scale: 2}, x[i])
	}
	ADDQ(U32(2*pixelBytes), y)
	SUBQ(Imm(2), left)
	JGE(LabelRef("two"))
	Label("one")
	CMPQ(left, I8(-1))
	JNE(LabelRef("next"))
	last := s.load(Mem{Base: y})
	for i := range x {
		VFMADD231PS(Mem{Base: x[i]}, last, even[i][0])
		ADDQ(step, x[i])
	}
	ADDQ(U32(pixelBytes), y)
	Label("next")
	for i := range x {
		ADDQ(nextX, x[i])
	}
	ADDQ(nextY, y)
	DECQ(rows)
	JNE(LabelRef("row"))
	c, keep := Load(Param("c"), GP64()), Load(Param("accumulate"), GP8())
	for i := range x {
		VADDPS(even[i][0], odd[i][0], even[i][0])
	}
	TESTB(keep, keep)
	JEQ(LabelRef("write"))
	for i := range x {
		VADDPS(Mem{Base: c, Disp: pixelBytes * i}, even[i][0], even[i][0])
	}
	Label("write")
	for i := range x {
		VMOVUPS(even[i][0], Mem{Base: c, Disp: pixelBytes * i})
	}
	VZEROUPPER()
	RET()
}
