package emit

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// UpTo makes the mask of the first n lanes, or of all if n is larger.
func (s ISA) UpTo(n, words reg.Register) reg.Register {
	lanes, table := GP64(), GP64()
	MOVQ(U32(s.Width), lanes)
	CMPQ(n, lanes)
	CMOVQLT(n, lanes)
	NEGQ(lanes)
	LEAQ(Mem{Base: words, Index: lanes, Scale: 4}, table)
	return s.Mask(table)
}

// LoadWhole loads a whole vector if mask is nil, else the lanes of the mask.
func (s ISA) LoadWhole(m Mem, mask reg.Register) reg.VecVirtual {
	if mask == nil {
		return s.Load(m)
	}
	return s.LoadMasked(m, mask)
}

// StoreWhole stores a whole vector if mask is nil, else the lanes of the mask.
func (s ISA) StoreWhole(v reg.VecVirtual, m Mem, mask reg.Register) {
	if mask == nil {
		VMOVUPS(v, m)
		return
	}
	s.StoreMasked(v, m, mask)
}

// Mask makes a mask of the lanes whose words in memory are not zero.
func (s ISA) Mask(words reg.Register) reg.Register {
	v := s.V()
	if s.EVEX {
		k := K()
		VMOVDQU32(Mem{Base: words}, v)
		VPTESTMD(v, v, k)
		return k
	}
	VMOVUPS(Mem{Base: words}, v)
	return v
}

// LoadMasked loads the lanes of a mask; the others become 0.
func (s ISA) LoadMasked(m Mem, mask reg.Register) reg.VecVirtual {
	r := s.V()
	if s.EVEX {
		VMOVUPS_Z(m, mask, r)
	} else {
		VMASKMOVPS(m, mask, r)
	}
	return r
}

// StoreMasked stores the lanes of a mask. Without EVEX it stores whole vectors without the mask: masked stores take longer, on some processors far
// longer.
func (s ISA) StoreMasked(v reg.VecVirtual, m Mem, mask reg.Register) {
	if s.EVEX {
		VMOVUPS(v, mask, m)
		return
	}
	if s.Elements {
		VMASKMOVPS(v, mask, m)
		return
	}
	stores++
	part, done := fmt.Sprintf("part%d", stores), fmt.Sprintf("stored%d", stores)
	lanes := GP32()
	VMOVMSKPS(mask, lanes)
	CMPL(lanes, U32(1<<s.Width-1))
	JNE(LabelRef(part))
	VMOVUPS(v, m)
	JMP(LabelRef(done))
	Label(part)
	VMASKMOVPS(v, mask, m)
	Label(done)
}

// stores numbers the labels of masked stores in a function.
var stores int
