package emit

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// EachVector emits a loop over n values, n a multiple of the vector width; body gets the index register.
func (s ISA) EachVector(body func(at reg.GPVirtual)) {
	n, at := GP("n"), GP64()
	XORQ(at, at)
	Label("loop")
	CMPQ(at, n)
	JGE(LabelRef("done"))
	body(at)
	ADDQ(U32(s.Width), at)
	JMP(LabelRef("loop"))
	Label("done")
}

// Ahead is how many bytes before they are needed lines are fetched: a page, since what fetches lines by itself stops where one ends.
const Ahead = 4096

// EachColumn emits a loop over n columns, some vectors at a time, then one, of which the last is masked. body gets the vectors' distances
// in bytes from the index, which counts bytes from the first column on.
func (s ISA) EachColumn(n, words reg.Register, vectors int, body func(at reg.Register, disps []int, mask reg.Register)) {
	at := GP64()
	XORQ(at, at)
	step := func(count int, mask reg.Register) {
		var disps []int
		for u := range count {
			disps = append(disps, 4*s.Width*u)
		}
		body(at, disps, mask)
		ADDQ(U32(4*s.Width*count), at)
		SUBQ(U32(s.Width*count), n)
	}
	Label("many")
	CMPQ(n, U32(s.Width*vectors))
	JLT(LabelRef("one"))
	step(vectors, nil)
	JMP(LabelRef("many"))
	Label("one")
	CMPQ(n, Imm(0))
	JLE(LabelRef("done"))
	step(1, s.UpTo(n, words))
	JMP(LabelRef("one"))
	Label("done")
}

// Unroll is the number of steps of a turn of the loops of kernels whose operands are not packed.
const Unroll = 4

// Steps emits a loop of k steps, unroll of them in a turn, and what is left one by one.
func (s ISA) Steps(k reg.Register, unroll int, some func(n int)) {
	CMPQ(k, U32(uint32(unroll)))
	JLT(LabelRef("one"))
	Align(64)
	Label("several")
	some(unroll)
	SUBQ(U32(uint32(unroll)), k)
	Align(32)
	CMPQ(k, U32(uint32(unroll)))
	JGE(LabelRef("several"))
	Label("one")
	TESTQ(k, k)
	JEQ(LabelRef("store"))
	some(1)
	DECQ(k)
	JMP(LabelRef("one"))
	Label("store")
}

// Align lets the next instruction begin at a multiple of n bytes. Skylake decodes a jump that crosses or ends 32 bytes anew in every
// turn of a loop (Intel, Mitigations for Jump Conditional Code Erratum, 2019).
func Align(n int) {
	Instruction(&ir.Instruction{Opcode: "PCALIGN", Operands: []Op{U32(uint32(n))}})
}
