package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// clear sets a register to 0.
func (s isa) clear(v reg.VecVirtual) {
	if s.w == 16 {
		VPXORD(v, v, v)
	} else {
		VXORPS(v, v, v)
	}
}

// blockInputs emits a loop over a row of n inputs: columns is their table, count is how many rows of outputs meet them, at least one, ld
// bytes apart; dy is the first of these. begin gets where the first output that meets an input is, in bytes, and the place that the input
// has in its window; add adds an output to the sum, and line is called after each row of outputs.
func (s isa) blockInputs(sum reg.VecVirtual, begin func(output, place reg.Register), add func(dy Mem), line func()) {
	dx, columns, n := gp("dx"), gp("columns"), gp("n")
	Label("input")
	s.clear(sum)
	row, across, place := meeting(columns)
	down, left, at := GP64(), GP64(), GP64()
	TESTQ(across, across)
	JEQ(LabelRef("store"))
	MOVQ(inFrame("count"), down)
	begin(row, place)
	ADDQ(inFrame("dy"), row)
	Label("row")
	MOVQ(row, at)
	MOVQ(across, left)
	Label("output")
	add(Mem{Base: at})
	ADDQ(Imm(pixelBytes), at)
	DECQ(left)
	JNE(LabelRef("output"))
	line()
	ADDQ(inFrame("ld"), row)
	DECQ(down)
	JNE(LabelRef("row"))
	Label("store")
	VMOVUPS(sum, Mem{Base: dx})
	ADDQ(Imm(pixelBytes), dx)
	DECQ(n)
	JNE(LabelRef("input"))
	VZEROUPPER()
	RET()
}

// maxBlocksGrad emits the sums, in the order of the outputs, of those that took an input. places are the places that the inputs have
// in windows of the first row of outputs that meets them; in those of the next row and of the next column they come down and across
// bytes before.
func (s isa) maxBlocksGrad() {
	across, ld := gp("across"), gp("ld")
	SHRQ(Imm(2), ld)
	sum := s.v()
	line, place, row, taken := GP64(), GP64(), GP64(), GP64()
	s.blockInputs(sum, func(output, first reg.Register) {
		MOVQ(inFrame("places"), line)
		LEAQ(Mem{Base: line, Index: first, Scale: 4}, line)
		MOVQ(line, place)
		MOVQ(output, row)
		SHRQ(Imm(2), row)
		ADDQ(inFrame("taken"), row)
		MOVQ(row, taken)
	}, func(dy Mem) {
		took := s.v()
		VPMOVZXBD(Mem{Base: taken}, took)
		s.addTaken(sum, dy, took, Mem{Base: place})
		ADDQ(Imm(takenBytes), taken)
		SUBQ(across, place)
	}, func() {
		ADDQ(ld, row)
		MOVQ(row, taken)
		SUBQ(inFrame("down"), line)
		MOVQ(line, place)
	})
}

// addTaken adds those of a vector to a sum that took the place.
func (s isa) addTaken(sum reg.VecVirtual, dy Mem, took reg.VecVirtual, place Mem) {
	if s.w == 16 {
		lanes := K()
		VPCMPEQD_BCST(place, took, lanes)
		VADDPS(dy, sum, lanes, sum)
		return
	}
	lanes := s.v()
	VPBROADCASTD(place, lanes)
	VPCMPEQD(lanes, took, lanes)
	VANDPS(dy, lanes, lanes)
	VADDPS(lanes, sum, sum)
}

// aveBlocksGrad is as maxBlocksGrad, of all outputs that meet an input.
func (s isa) aveBlocksGrad() {
	sum := s.v()
	s.blockInputs(sum, func(_, _ reg.Register) {}, func(dy Mem) { VADDPS(dy, sum, sum) }, func() {})
}
