package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// maxBlocksGroups is maxBlocksGrad for windows q.k wide, q.s apart: the inputs that begin with the first of a window, q.s of them, meet
// the same outputs, all of which there are. dx is the first of n such groups of a row, dy and taken are the first of the outputs that it
// meets, places those of the first row of outputs; down is how many bytes before they come for the next row.
func (s isa) maxBlocksGroups(q squares) {
	dx, dy, taken, n := gp("dx"), gp("dy"), gp("taken"), gp("n")
	ld, ldTaken, down := gp("ld"), gp("ld"), gp("down")
	SHRQ(Imm(2), ldTaken)
	sums := make([]reg.VecVirtual, q.s)
	for j := range sums {
		sums[j] = s.v()
	}
	outputs := (q.k-1)/q.s + 1
	at, atTaken, place, left := GP64(), GP64(), GP64(), GP64()
	Label("group")
	for _, sum := range sums {
		s.clear(sum)
	}
	MOVQ(dy, at)
	MOVQ(taken, atTaken)
	MOVQ(inFrame("places"), place)
	MOVQ(inFrame("count"), left)
	Label("row")
	for i := range outputs {
		took := s.v()
		VPMOVZXBD(Mem{Base: atTaken, Disp: i * takenBytes}, took)
		for j, sum := range sums {
			if column := j + (outputs-1-i)*q.s; column < q.k {
				s.addTaken(sum, Mem{Base: at, Disp: i * pixelBytes}, took, Mem{Base: place, Disp: 4 * column})
			}
		}
	}
	ADDQ(ld, at)
	ADDQ(ldTaken, atTaken)
	SUBQ(down, place)
	DECQ(left)
	JNE(LabelRef("row"))
	for j, sum := range sums {
		VMOVUPS(sum, Mem{Base: dx, Disp: j * pixelBytes})
	}
	ADDQ(Imm(uint64(q.s*pixelBytes)), dx)
	ADDQ(Imm(pixelBytes), dy)
	ADDQ(Imm(takenBytes), taken)
	DECQ(n)
	JNE(LabelRef("group"))
	VZEROUPPER()
	RET()
}
