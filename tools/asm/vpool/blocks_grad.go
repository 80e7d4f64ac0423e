package vpool

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// blockInputs emits a loop over a row of n inputs. columns is their table. The outputs whose windows contain them are in count rows, at least one, ld
// bytes apart, the first at dy. begin gets the offset in bytes of an input's first output, and the input's place in its window; add adds an
// output to the sum, line follows each row of outputs.
func blockInputs(s emit.ISA, sum reg.VecVirtual, begin func(output, place reg.Register), add func(dy Mem), line func()) {
	dx, columns, n := emit.GP("dx"), emit.GP("columns"), emit.GP("n")
	Label("input")
	s.Clear(sum)
	row, across, place := meeting(columns)
	down, left, at := GP64(), GP64(), GP64()
	TESTQ(across, across)
	JEQ(LabelRef("store"))
	MOVQ(emit.ParamAt("count"), down)
	begin(row, place)
	ADDQ(emit.ParamAt("dy"), row)
	Label("row")
	MOVQ(row, at)
	MOVQ(across, left)
	Label("output")
	add(Mem{Base: at})
	ADDQ(Imm(emit.PixelBytes), at)
	DECQ(left)
	JNE(LabelRef("output"))
	line()
	ADDQ(emit.ParamAt("ld"), row)
	DECQ(down)
	JNE(LabelRef("row"))
	Label("store")
	VMOVUPS(sum, Mem{Base: dx})
	ADDQ(Imm(emit.PixelBytes), dx)
	DECQ(n)
	JNE(LabelRef("input"))
	s.Ret()
}

// MaxBlocksGrad emits, for each input, the sum over the outputs that took it, in the order of the outputs. places are the inputs' places in the windows
// of the first row of outputs that meets them. Their places in the windows of the next row are down bytes before, those in the windows of the
// next column across bytes.
func MaxBlocksGrad(s emit.ISA) {
	across, ld := emit.GP("across"), emit.GP("ld")
	SHRQ(Imm(2), ld)
	sum := s.V()
	line, place, row, taken := GP64(), GP64(), GP64(), GP64()
	blockInputs(s, sum, func(output, first reg.Register) {
		MOVQ(emit.ParamAt("places"), line)
		LEAQ(Mem{Base: line, Index: first, Scale: 4}, line)
		MOVQ(line, place)
		MOVQ(output, row)
		SHRQ(Imm(2), row)
		ADDQ(emit.ParamAt("taken"), row)
		MOVQ(row, taken)
	}, func(dy Mem) {
		took := s.V()
		VPMOVZXBD(Mem{Base: taken}, took)
		addTaken(s, sum, dy, took, Mem{Base: place})
		ADDQ(Imm(takenBytes), taken)
		SUBQ(across, place)
	}, func() {
		ADDQ(ld, row)
		MOVQ(row, taken)
		SUBQ(emit.ParamAt("down"), line)
		MOVQ(line, place)
	})
}

// addTaken adds to a sum the gradients of the outputs that took a place.
func addTaken(s emit.ISA, sum reg.VecVirtual, dy Mem, took reg.VecVirtual, place Mem) {
	if s.EVEX {
		lanes := K()
		VPCMPEQD_BCST(place, took, lanes)
		VADDPS(dy, sum, lanes, sum)
		return
	}
	lanes := s.V()
	VPBROADCASTD(place, lanes)
	VPCMPEQD(lanes, took, lanes)
	VANDPS(dy, lanes, lanes)
	VADDPS(lanes, sum, sum)
}

// AveBlocksGrad is as MaxBlocksGrad, but sums over all outputs that meet an input.
func AveBlocksGrad(s emit.ISA) {
	sum := s.V()
	blockInputs(s, sum, func(_, _ reg.Register) {}, func(dy Mem) { VADDPS(dy, sum, sum) }, func() {})
}
