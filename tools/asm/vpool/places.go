package vpool

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// Predicates of VPCMPD.
const (
	equal    = 0
	less     = 1
	notLess  = 5
	noneCode = 0xff       // the code of an output that took no place
	nowhere  = 0xffffffff // -1, the index of no place
)

// PackPlaces emits the codes of places for windows of at most three rows. The window of output i of a row begins at index
// first + i*step of a plane. Its places are numbered row by row, edge in each; span is the length of a row of the plane less edge.
func PackPlaces(s emit.ISA) {
	codes, index, y := emit.GP("codes"), emit.GP("index"), emit.GP("y")
	base, next := windows(s)
	rows := rowsOf(s, "width")
	zero, none := s.Zero(), s.V()
	VMOVDQU32(s.Bits(noneCode), none)
	relu := K()
	word := GP32()
	MOVBLZX(Load(Param("relu"), GP8()), word)
	NEGL(word)
	KMOVW(word, relu)
	inParts(s, func(mask reg.Register) {
		at, code, values := s.V(), s.V(), s.V()
		VMOVDQU32_Z(Mem{Base: index}, mask, at)
		VMOVUPS_Z(Mem{Base: y}, mask, values)
		outside, cleared := K(), K()
		VPCMPD(Imm(less), zero, at, outside)
		VCMPPS(Imm(2), zero, values, relu, cleared)
		KANDW(mask, cleared, cleared)
		VMOVUPS(zero, cleared, Mem{Base: y})
		KORW(cleared, outside, outside)
		VPSUBD(base, at, code)
		rows.shift(VPSUBD, code, code)
		VMOVDQA32(none, outside, code)
		VPMOVDB(code, mask, Mem{Base: codes})
		VPADDD(next, base, base)
	}, pointer{codes, 1}, pointer{index, 4}, pointer{y, 4})
}

// UnpackPlaces emits the reverse.
func UnpackPlaces(s emit.ISA) {
	index, codes := emit.GP("index"), emit.GP("codes")
	base, next := windows(s)
	rows := rowsOf(s, "edge")
	none, away := s.V(), s.V()
	VMOVDQU32(s.Bits(noneCode), none)
	VMOVDQU32(s.Bits(nowhere), away)
	inParts(s, func(mask reg.Register) {
		code, at := s.V(), s.V()
		VPMOVZXBD_Z(Mem{Base: codes}, mask, code)
		VPADDD(base, code, at)
		nothing := K()
		VPCMPD(Imm(equal), none, code, nothing)
		rows.shift(VPADDD, at, code)
		VMOVDQA32(away, nothing, at)
		VMOVDQU32(at, mask, Mem{Base: index})
		VPADDD(next, base, base)
	}, pointer{index, 4}, pointer{codes, 1})
}

// windowRows turns places in a window into indices and back. second and third are where the second and the third row of a window begin, and
// span is the distance from the end of one row to the next.
type windowRows struct{ second, third, span reg.VecVirtual }

// rowsOf loads windowRows; edge names the parameter with the length of a row.
func rowsOf(s emit.ISA, edge string) windowRows {
	w := windowRows{s.V(), s.V(), s.V()}
	s.Broadcast(edge, w.second)
	VPADDD(w.second, w.second, w.third)
	s.Broadcast("span", w.span)
	return w
}

// shift applies op with span to the lanes of x whose place is in the second row, and twice where it is in the third.
func (w *windowRows) shift(op func(...Op), x, place reg.VecVirtual) {
	later, last := K(), K()
	VPCMPD(Imm(notLess), w.second, place, later)
	VPCMPD(Imm(notLess), w.third, place, last)
	op(w.span, x, later, x)
	op(w.span, x, last, x)
}

// windows returns the indices at which the windows of a vector of outputs begin, and the distance to those of the next vector.
func windows(s emit.ISA) (base, next reg.VecVirtual) {
	base, next = s.V(), s.V()
	first := s.V()
	s.Broadcast("first", first)
	s.Broadcast("step", next)
	VPMULLD(s.Words("lanesInOrder", func(lane int) int { return lane }), next, base)
	VPADDD(first, base, base)
	VPSLLD(Imm(4), next, next)
	return base, next
}

// pointer is the address of values of a size in bytes.
type pointer struct {
	to   reg.Register
	size int
}

// inParts emits a loop over n values, a vector at a time, the last one masked; it advances pointers.
func inParts(s emit.ISA, body func(mask reg.Register), pointers ...pointer) {
	n, full, ones, word, mask := emit.GP("n"), GP64(), GP64(), GP64(), K()
	MOVQ(U32(uint32(s.Width)), full)
	MOVQ(U32(uint32(1)<<s.Width-1), ones)
	Label("part")
	MOVQ(n, word)
	CMPQ(word, full)
	CMOVQGT(full, word)
	BZHIQ(word, ones, word)
	KMOVW(word.As32(), mask)
	body(mask)
	for _, p := range pointers {
		ADDQ(U32(uint32(p.size*s.Width)), p.to)
	}
	SUBQ(Imm(uint64(s.Width)), n)
	JG(LabelRef("part"))
	s.Ret()
}
