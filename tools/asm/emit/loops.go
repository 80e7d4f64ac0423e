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

// Ahead is the distance in bytes at which lines are fetched ahead: a page, since the hardware prefetcher stops at the end of one.
const Ahead = 4096

// InVectors emits a loop over n values: most vectors at a time, then one at a time. The last vector is masked by words. body gets the number of
// vectors, and the mask or nil; label is the name of the first loop.
func (s ISA) InVectors(label string, n, words reg.Register, most int, body func(count int, mask reg.Register)) {
	Label(label)
	CMPQ(n, U32(s.Width*most))
	JLT(LabelRef("one"))
	body(most, nil)
	SUBQ(U32(s.Width*most), n)
	JMP(LabelRef(label))
	Label("one")
	CMPQ(n, Imm(0))
	JLE(LabelRef("done"))
	body(1, s.UpTo(n, words))
	SUBQ(U32(s.Width), n)
	JMP(LabelRef("one"))
	Label("done")
}

// EachColumn is InVectors with an index in bytes from the first value; body gets the vectors' distances in bytes from the index.
func (s ISA) EachColumn(n, words reg.Register, vectors int, body func(at reg.Register, disps []int, mask reg.Register)) {
	at := GP64()
	XORQ(at, at)
	s.InVectors("many", n, words, vectors, func(count int, mask reg.Register) {
		var disps []int
		for u := range count {
			disps = append(disps, 4*s.Width*u)
		}
		body(at, disps, mask)
		ADDQ(U32(4*s.Width*count), at)
	})
}

// Unroll is the number of steps in a turn of the loops of kernels whose operands are not packed.
const Unroll = 4

// Steps emits a loop of k steps: unroll steps in a turn, then the rest one by one. some emits n steps.
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

// Align lets the next instruction begin at a multiple of n bytes. Skylake decodes a jump that crosses or ends 32 bytes again in every
// turn of a loop (Intel, Mitigations for Jump Conditional Code Erratum, 2019).
func Align(n int) {
	Instruction(&ir.Instruction{Opcode: "PCALIGN", Operands: []Op{U32(uint32(n))}})
}
