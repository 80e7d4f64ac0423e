package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// offsets emits the micro kernel of a convolution of some pixels, which are apart values from each other, with nv vectors of output
// channels: C (rows x vectors, pixels side by side, vectors jumpC apart) = start + the sum over k of x[offs[k]+apart*pixel] * B[k], rows of
// 32 columns; and the same for further tiles of as many pixels. On the way it fetches the results of the next tile to L1.
func (s isa) offsets(rows, nv int) {
	tiles, x := Load(Param("tiles"), GP64()), Load(Param("x"), GP64())
	apart := Load(Param("apart"), GP64())
	c, jumpC := Load(Param("c"), GP64()), Load(Param("jumpC"), GP64())
	SHLQ(Imm(2), apart)
	SHLQ(Imm(2), jumpC)
	column := func(j int) Mem {
		if j == 0 {
			return Mem{Base: c}
		}
		return Mem{Base: c, Index: jumpC, Scale: 1}
	}
	thrice, offs, b, step := GP64(), GP64(), GP64(), GP64()
	later, last := GP64(), GP64()
	LEAQ(Mem{Base: apart, Index: apart, Scale: 2}, thrice)
	Label("tile")
	start := Load(Param("start"), GP64())
	acc := s.started(start, rows, nv)
	Load(Param("b"), b)
	Load(Param("offs"), offs)
	Load(Param("k"), step)
	LEAQ(Mem{Base: c, Disp: rows * pixelBytes}, later)
	LEAQ(Mem{Base: c, Disp: (2*rows - 1) * pixelBytes}, last)
	TESTQ(U32(1), step)
	JEQ(LabelRef("two"))
	SUBQ(Imm(8), offs)
	SUBQ(U32(2*pixelBytes), b)
	INCQ(step)
	JMP(LabelRef("second"))
	align(64)
	Label("two")
	for u := range 2 {
		if u == 1 {
			Label("second")
			s.fetchLater(later, last, jumpC, nv)
		}
		at := GP64()
		MOVQ(Mem{Base: offs, Disp: 8 * u}, at)
		LEAQ(Mem{Base: x, Index: at, Scale: 4}, at)
		vectors := make([]reg.VecVirtual, nv)
		for j := range vectors {
			vectors[j] = s.load(Mem{Base: b, Disp: 2*pixelBytes*u + 4*s.w*j})
		}
		s.addPixels(acc, at, apart, thrice, vectors)
	}
	ADDQ(Imm(16), offs)
	ADDQ(U32(4*pixelBytes), b)
	align(32)
	SUBQ(Imm(2), step)
	JNE(LabelRef("two"))
	s.putPixels(acc, column)
	ADDQ(U32(rows*pixelBytes), c)
	IMUL3Q(Imm(uint64(rows)), apart, step)
	ADDQ(step, x)
	DECQ(tiles)
	JNE(LabelRef("tile"))
	VZEROUPPER()
	RET()
}

// addPixels adds the products of vectors with pixels that are apart bytes from each other.
func (s isa) addPixels(acc [][]reg.VecVirtual, at, apart, thrice reg.Register, vectors []reg.VecVirtual) {
	for i := range acc {
		pixel := Mem{Base: at}
		switch i % 4 {
		case 0:
			if i > 0 {
				next := GP64()
				LEAQ(Mem{Base: at, Index: apart, Scale: 4}, next)
				at = next
				pixel.Base = at
			}
		case 3:
			pixel.Index, pixel.Scale = thrice, 1
		default:
			pixel.Index, pixel.Scale = apart, uint8(i%4)
		}
		s.addProducts(acc[i], pixel, vectors, i%4 == 0)
	}
}

// offsetSums emits the micro kernel of such a convolution's weight gradient: C (kernel offsets, width of each of some lines, x nv vectors
// of output channels, rows of 32 columns) (+)= the sum over rows of pixels of x[offs[line]+pixel*step+offset] times Y (pixels side by
// side, vectors jumpY apart). Rows of x begin nextX behind the last one's end, those of Y nextY. On the way it fetches as many pixels of a
// block that will be read later.
func (s isa) offsetSums(lines, width, nv int) {
	rows := Load(Param("rows"), GP64())
	offs, base := Load(Param("offs"), GP64()), Load(Param("x"), GP64())
	step, nextX := Load(Param("step"), GP64()), Load(Param("nextX"), GP64())
	y, jumpY, nextY := Load(Param("y"), GP64()), Load(Param("jumpY"), GP64()), Load(Param("nextY"), GP64())
	ahead := Load(Param("ahead"), GP64())
	for _, r := range []reg.Register{step, nextX, jumpY, nextY} {
		SHLQ(Imm(2), r)
	}
	x := make([]reg.GPVirtual, lines)
	for l := range x {
		x[l] = GP64()
		MOVQ(Mem{Base: offs, Disp: 8 * l}, x[l])
		LEAQ(Mem{Base: base, Index: x[l], Scale: 4}, x[l])
	}
	acc := s.accumulators(lines*width, nv)
	pixel := func(u int) {
		vectors := []reg.VecVirtual{s.load(Mem{Base: y, Disp: u * pixelBytes})}
		if nv == 2 {
			vectors = append(vectors, s.load(Mem{Base: y, Index: jumpY, Scale: 1, Disp: u * pixelBytes}))
		}
		for i := range acc {
			at := Mem{Base: x[i/width], Disp: 4 * (i % width)}
			if u > 0 {
				at.Index, at.Scale = step, 1
			}
			s.addProducts(acc[i], at, vectors, u == 0 && i%6 == 1)
		}
	}
	left := GP64()
	Label("row")
	Load(Param("pixels"), left)
	SUBQ(Imm(2), left)
	JLT(LabelRef("one"))
	align(64)
	Label("two")
	for u := range 2 {
		PREFETCHT1(Mem{Base: ahead, Disp: u * pixelBytes})
		pixel(u)
	}
	ADDQ(U32(2*pixelBytes), ahead)
	for l := range x {
		LEAQ(Mem{Base: x[l], Index: step, Scale: 2}, x[l])
	}
	ADDQ(U32(2*pixelBytes), y)
	align(32)
	SUBQ(Imm(2), left)
	JGE(LabelRef("two"))
	Label("one")
	CMPQ(left, I8(-1))
	JNE(LabelRef("next"))
	pixel(0)
	for l := range x {
		ADDQ(step, x[l])
	}
	ADDQ(U32(pixelBytes), y)
	Label("next")
	for l := range x {
		ADDQ(nextX, x[l])
	}
	ADDQ(nextY, y)
	DECQ(rows)
	JNE(LabelRef("row"))
	c, keep := Load(Param("c"), GP64()), Load(Param("accumulate"), GP8())
	TESTB(keep, keep)
	JEQ(LabelRef("write"))
	for i := range acc {
		for j := range nv {
			VADDPS(Mem{Base: c, Disp: 2*pixelBytes*i + 4*s.w*j}, acc[i][j], acc[i][j])
		}
	}
	Label("write")
	for i := range acc {
		for j := range nv {
			VMOVUPS(acc[i][j], Mem{Base: c, Disp: 2*pixelBytes*i + 4*s.w*j})
		}
	}
	VZEROUPPER()
	RET()
}
