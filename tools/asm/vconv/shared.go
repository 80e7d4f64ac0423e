package vconv

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// column returns the places of vectors of channels behind base, side by side in blocks that are jump bytes apart: those of two blocks at most.
func column(s emit.ISA, base, jump reg.Register) func(j int) Mem {
	return func(j int) Mem {
		at := Mem{Base: base, Disp: 4 * (j * s.Width % emit.Lanes)}
		if j*s.Width >= emit.Lanes {
			at.Index, at.Scale = jump, 1
		}
		return at
	}
}

// addresses returns base plus each of n offsets of float32 values in memory.
func addresses(offs, base reg.Register, n int) []reg.GPVirtual {
	list := make([]reg.GPVirtual, n)
	for i := range list {
		list[i] = GP64()
		MOVQ(Mem{Base: offs, Disp: 8 * i}, list[i])
		LEAQ(Mem{Base: base, Index: list[i], Scale: 4}, list[i])
	}
	return list
}

// eachPixel calls use with the places of n pixels, the first at a register, each apart bytes from the last; thrice is three times that.
func eachPixel(n int, at, apart, thrice reg.Register, use func(i int, pixel Mem)) {
	for i := range n {
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
		use(i, pixel)
	}
}

// rowLoop is a loop over rows of pixels, two pixels in a turn. Pixels of x are step bytes apart and those of y lie side by side. The next row
// begins nextX and nextY bytes behind the end of a row. begin and end are the alignments of the first and the last instructions of a turn; 0: none.
type rowLoop struct {
	x                           []reg.GPVirtual
	y, step, nextX, nextY, rows reg.Register
	begin, end                  int
}

// run emits the loop. two computes two pixels, one the last of an odd number; both advance x.
func (l *rowLoop) run(two, one func()) {
	left := GP64()
	Label("row")
	Load(Param("pixels"), left)
	SUBQ(Imm(2), left)
	JLT(LabelRef("one"))
	emit.Align(l.begin)
	Label("two")
	two()
	ADDQ(U32(2*emit.PixelBytes), l.y)
	if l.end > 0 {
		emit.Align(l.end)
	}
	SUBQ(Imm(2), left)
	JGE(LabelRef("two"))
	Label("one")
	CMPQ(left, I8(-1))
	JNE(LabelRef("next"))
	one()
	ADDQ(U32(emit.PixelBytes), l.y)
	Label("next")
	for _, x := range l.x {
		ADDQ(l.nextX, x)
	}
	ADDQ(l.nextY, l.y)
	DECQ(l.rows)
	JNE(LabelRef("row"))
}

// storeOrAdd stores sums at a number of bytes behind c, or adds them to the values there if keep is set.
func storeOrAdd(acc [][]reg.VecVirtual, c, keep reg.Register, at func(i, j int) int) {
	TESTB(keep, keep)
	JEQ(LabelRef("write"))
	for i := range acc {
		for j := range acc[i] {
			VADDPS(Mem{Base: c, Disp: at(i, j)}, acc[i][j], acc[i][j])
		}
	}
	Label("write")
	for i := range acc {
		for j := range acc[i] {
			VMOVUPS(acc[i][j], Mem{Base: c, Disp: at(i, j)})
		}
	}
}
