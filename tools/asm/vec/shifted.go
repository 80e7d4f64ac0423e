package vec

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// SumShifted emits dst[j] = Σp src[offs[p]+j] over p < k, for n values.
func SumShifted(s emit.ISA) {
	dst, src, offs := emit.GP("dst"), emit.GP("src"), emit.GP("offs")
	k, n, words := emit.GP("k"), emit.GP("n"), emit.GP("words")
	run, next, left := GP64(), GP64(), GP64()
	s.EachColumn(n, words, 4, func(at reg.Register, disps []int, mask reg.Register) {
		loop := fmt.Sprintf("run%d", len(disps))
		sums := s.Zeros(len(disps))
		MOVQ(offs, next)
		MOVQ(k, left)
		Label(loop)
		MOVQ(Mem{Base: next}, run)
		LEAQ(Mem{Base: src, Index: run, Scale: 4}, run)
		for u, d := range disps {
			VADDPS(s.LoadWhole(Mem{Base: run, Index: at, Scale: 1, Disp: d}, mask), sums[u], sums[u])
		}
		ADDQ(Imm(8), next)
		DECQ(left)
		JNE(LabelRef(loop))
		for u, d := range disps {
			s.StoreWhole(sums[u], Mem{Base: dst, Index: at, Scale: 1, Disp: d}, mask)
		}
	})
	s.Ret()
}
