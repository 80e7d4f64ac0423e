package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	// takenLanes is how many values a run has, at every level: kernels of nets' first layers have seldom more in a line.
	takenLanes = 8
	// takenRuns bounds the runs that takenSums does at once: two sums of each, since an addition takes as long as four begin.
	takenRuns = 5
)

// takenSums emits, for a number of runs, the sums of what n outputs took of images: sums[r] += dy[i] * x[runs[r]+places[index[i]]] over i,
// x being 8 values; and, in each lane of all, += dy[i].
func (s isa) takenSums(runs int) {
	list, x := gp("runs"), gp("x")
	from := make([]reg.GPVirtual, runs)
	for r := range from {
		from[r] = GP64()
		MOVQ(Mem{Base: list, Disp: 8 * r}, from[r])
		LEAQ(Mem{Base: x, Index: from[r], Scale: 4}, from[r])
	}
	n, index, places, dy := gp("n"), gp("index"), gp("places"), gp("dy")
	acc := s.accumulators(2, runs+1)
	s.steps(n, unroll, func(some int) {
		for u := range some {
			at, v := GP64(), s.v()
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
	sums, all := gp("sums"), gp("all")
	for r := range acc[0] {
		to := Mem{Base: sums, Disp: 4 * s.w * r}
		if r == runs {
			to = Mem{Base: all}
		}
		VADDPS(acc[0][r], acc[1][r], acc[0][r])
		VADDPS(to, acc[0][r], acc[0][r])
		VMOVUPS(acc[0][r], to)
	}
	s.ret()
}
