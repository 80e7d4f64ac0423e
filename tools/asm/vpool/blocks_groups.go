package vpool

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// MaxBlocksGroups is MaxBlocksGrad for windows q.K wide and q.S apart, by groups of q.S inputs that lie in the same windows, all of which exist. dx
// is the first of n groups of a row, dy and taken the first of the first group's outputs, places those in the first row of outputs; down is
// the number of bytes by which they move back from a row to the next.
func MaxBlocksGroups(s emit.ISA, q Squares) {
	dx, dy, taken, n := emit.GP("dx"), emit.GP("dy"), emit.GP("taken"), emit.GP("n")
	ld, ldTaken, down := emit.GP("ld"), emit.GP("ld"), emit.GP("down")
	SHRQ(Imm(2), ldTaken)
	sums := make([]reg.VecVirtual, q.S)
	for j := range sums {
		sums[j] = s.V()
	}
	outputs := (q.K-1)/q.S + 1
	at, atTaken, place, left := GP64(), GP64(), GP64(), GP64()
	Label("group")
	for _, sum := range sums {
		s.Clear(sum)
	}
	MOVQ(dy, at)
	MOVQ(taken, atTaken)
	MOVQ(emit.ParamAt("places"), place)
	MOVQ(emit.ParamAt("count"), left)
	Label("row")
	for i := range outputs {
		took := s.V()
		VPMOVZXBD(Mem{Base: atTaken, Disp: i * takenBytes}, took)
		for j, sum := range sums {
			if column := j + (outputs-1-i)*q.S; column < q.K {
				addTaken(s, sum, Mem{Base: at, Disp: i * emit.PixelBytes}, took, Mem{Base: place, Disp: 4 * column})
			}
		}
	}
	ADDQ(ld, at)
	ADDQ(ldTaken, atTaken)
	SUBQ(down, place)
	DECQ(left)
	JNE(LabelRef("row"))
	for j, sum := range sums {
		VMOVUPS(sum, Mem{Base: dx, Disp: j * emit.PixelBytes})
	}
	ADDQ(Imm(uint64(q.S*emit.PixelBytes)), dx)
	ADDQ(Imm(emit.PixelBytes), dy)
	ADDQ(Imm(takenBytes), taken)
	DECQ(n)
	JNE(LabelRef("group"))
	s.Ret()
}
