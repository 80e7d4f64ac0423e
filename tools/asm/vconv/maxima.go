package vconv

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

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
	vectors := MaximaLanes / s.Width // of a run
	list, x := emit.GP("runs"), emit.GP("x")
	from := addresses(list, x, runs)
	n, index, places, dy := emit.GP("n"), emit.GP("index"), emit.GP("places"), emit.GP("dy")
	acc := s.Accumulators(2, runs*vectors+1)
	s.Steps(n, emit.Unroll, func(some int) {
		for u := range some {
			at, v := GP64(), s.V()
			MOVLQSX(Mem{Base: index, Disp: 4 * u}, at)
			MOVLQSX(Mem{Base: places, Index: at, Scale: 4}, at)
			VBROADCASTSS(Mem{Base: dy, Disp: 4 * u}, v)
			for r := range from {
				for j := range vectors {
					VFMADD231PS(Mem{Base: from[r], Index: at, Scale: 4, Disp: 4 * s.Width * j}, v, acc[u%2][r*vectors+j])
				}
			}
			VADDPS(v, acc[u%2][runs*vectors], acc[u%2][runs*vectors])
		}
		ADDQ(Imm(uint64(4*some)), index)
		ADDQ(Imm(uint64(4*some)), dy)
	})
	sums, all := emit.GP("sums"), emit.GP("all")
	add := func(sum, into reg.VecVirtual, to Mem) {
		VADDPS(to, sum, into)
		VMOVUPS(into, to)
	}
	for i := range acc[0] {
		VADDPS(acc[0][i], acc[1][i], acc[0][i])
		if i < runs*vectors {
			add(acc[0][i], acc[0][i], Mem{Base: sums, Disp: 4 * s.Width * i})
			continue
		}
		for j := range vectors {
			add(acc[0][i], acc[vectors-1-j][i], Mem{Base: all, Disp: 4 * s.Width * j})
		}
	}
	s.Ret()
}
