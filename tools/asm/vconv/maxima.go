package vconv

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

const (
	// MaximaLanes is the number of values of a run, at every level: a line of a kernel in a net's first layer seldom has more.
	MaximaLanes = 8
	// MaximaRuns is the largest number of runs of MaximaSums. Each has two sums, since an addition takes as long as four more take to begin.
	MaximaRuns = 5
)

// MaximaSums emits, for a number of runs r, sums over the inputs that n outputs took: sums[r] += dy[i] * x[runs[r]+places[index[i]]] over i, where
// x is a vector of 8 values. It adds dy[i] to each lane of all.
func MaximaSums(s emit.ISA, runs int) {
	list, x := emit.GP("runs"), emit.GP("x")
	from := addresses(list, x, runs)
	n, index, places, dy := emit.GP("n"), emit.GP("index"), emit.GP("places"), emit.GP("dy")
	acc := s.Accumulators(2, runs+1)
	s.Steps(n, emit.Unroll, func(some int) {
		for u := range some {
			at, v := GP64(), s.V()
			MOVLQSX(Mem{Base: index, Disp: 4 * u}, at)
			MOVLQSX(Mem{Base: places, Index: at, Scale: 4}, at)
			VBROADCASTSS(Mem{Base: dy, Disp: 4 * u}, v)
			for r := range from {
				VFMADD231PS(Mem{Base: from[r], Index: at, Scale: 4}, v, acc[u%2][r])
			}
			VADDPS(v, acc[u%2][runs], acc[u%2][runs])
		}
		ADDQ(Imm(uint64(4*some)), index)
		ADDQ(Imm(uint64(4*some)), dy)
	})
	sums, all := emit.GP("sums"), emit.GP("all")
	for r := range acc[0] {
		to := Mem{Base: sums, Disp: 4 * s.Width * r}
		if r == runs {
			to = Mem{Base: all}
		}
		VADDPS(acc[0][r], acc[1][r], acc[0][r])
		VADDPS(to, acc[0][r], acc[0][r])
		VMOVUPS(acc[0][r], to)
	}
	s.Ret()
}
