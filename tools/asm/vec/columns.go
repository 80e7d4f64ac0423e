package vec

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// ColumnSums emits sums[i] += x[i] in float64.
func ColumnSums(s emit.ISA) { column(s, func(sum, x, _ reg.VecVirtual) { VADDPD(x, sum, sum) }) }

// ColumnProducts emits sums[i] += x[i]*y[i] in float64.
func ColumnProducts(s emit.ISA) { column(s, func(sum, x, y reg.VecVirtual) { VFMADD231PD(x, y, sum) }) }

// ColumnSquares emits sums[i] += (x[i]-y[i])² in float64.
func ColumnSquares(s emit.ISA) {
	column(s, func(sum, x, y reg.VecVirtual) {
		VSUBPD(y, x, x)
		VFMADD231PD(x, x, sum)
	})
}

// column emits the loop of ColumnSums, ColumnProducts and ColumnSquares; add adds half a vector to its sums.
func column(s emit.ISA, add func(sum, x, y reg.VecVirtual)) {
	sums, x, y := emit.GP("sums"), emit.GP("x"), emit.GP("y")
	s.EachVector(func(at reg.GPVirtual) {
		var xs, ys [2]reg.VecVirtual
		xs[0], xs[1] = s.Doubles(s.Load(Mem{Base: x, Index: at, Scale: 4}))
		ys[0], ys[1] = s.Doubles(s.Load(Mem{Base: y, Index: at, Scale: 4}))
		for half := range xs {
			m := Mem{Base: sums, Index: at, Scale: 8, Disp: half * 4 * s.Width}
			sum := s.Load(m)
			add(sum, xs[half], ys[half])
			VMOVUPD(sum, m)
		}
	})
	s.Ret()
}
