package vpool

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// Vectors of a block's table, backward: lanes of inputs to be stored, of the second vector too where windows are 2 apart, lanes of
// each load that are outputs, and the inputs' columns, of even and odd ones where windows are 2 apart.
const (
	gradStore  = 0
	gradLoad   = 2
	gradColumn = gradLoad + 3
)

// gradLoop is the loops that the backward kernels share: over rows of inputs, over the rows of outputs that meet them, and over the taps of a row.
// begin and tap emit their bodies.
type gradLoop struct {
	emit.ISA
	q       Squares
	outputs []reg.Register        // where a row of outputs is in each array
	loads   []func() reg.Register // lanes of each tap
	sums    []reg.VecVirtual      // of inputs, or of even and odd ones
}

// newGradLoop loads the arrays that a kernel reads.
func newGradLoop(s emit.ISA, q Squares, arrays ...string) *gradLoop {
	l := &gradLoop{ISA: s, q: q}
	table, from := emit.GP("table"), emit.GP("from")
	for _, a := range arrays {
		at := emit.GP(a)
		LEAQ(Mem{Base: at, Index: from, Scale: 4}, at)
		l.outputs = append(l.outputs, at)
	}
	for i := range (q.K-1)/q.S + 1 {
		l.loads = append(l.loads, maskOf(s, table, gradLoad+i))
	}
	for range q.S {
		l.sums = append(l.sums, s.V())
	}
	return l
}

// parities returns the sums to which output i, of those that meet a lane, is added. If windows are 2 apart, the last output meets the even input and
// the odd one, the output before it only the even one.
func (l *gradLoop) parities(i int) []int {
	if l.q.S == 2 && i == len(l.loads)-1 {
		return []int{0, 1}
	}
	return []int{0}
}

// run emits the loops. begin gets the place of a row's index; tap adds output i of a row of outputs, at the places at, to the sums.
func (l *gradLoop) run(begin func(index Mem), tap func(at []Mem, i int)) {
	s := l.ISA
	dx, table, rows, n, ldx, ldo, to := emit.GP("dx"), emit.GP("table"), emit.GP("rows"), emit.GP("n"), emit.GP("ldx"), emit.GP("ldo"), emit.GP("to")
	LEAQ(Mem{Base: dx, Index: to, Scale: 4}, dx)
	SHLQ(Imm(2), ldx)
	SHLQ(Imm(2), ldo)
	store := []func() reg.Register{maskOf(s, table, gradStore), nil}
	if l.q.S == 2 {
		store[1] = maskOf(s, table, gradStore+1)
	}
	Label("input")
	for _, sum := range l.sums {
		s.Clear(sum)
	}
	begin(Mem{Base: rows, Disp: 16})
	offset, left := GP64(), GP64()
	MOVQ(Mem{Base: rows}, offset)
	MOVQ(Mem{Base: rows, Disp: 8}, left)
	ADDQ(Imm(24), rows)
	TESTQ(left, left)
	JEQ(LabelRef("store"))
	Label("row")
	for i := range l.loads {
		at := make([]Mem, len(l.outputs))
		for a, base := range l.outputs {
			at[a] = Mem{Base: base, Index: offset, Scale: 1, Disp: 4 * i}
		}
		tap(at, i)
	}
	ADDQ(ldo, offset)
	DECQ(left)
	JNE(LabelRef("row"))
	Label("store")
	if l.q.S == 1 {
		s.StoreMasked(l.sums[0], Mem{Base: dx}, store[0]())
	} else {
		lo, hi := s.Interleave(l.sums[0], l.sums[1])
		s.StoreMasked(lo, Mem{Base: dx}, store[0]())
		s.StoreMasked(hi, Mem{Base: dx, Disp: 4 * s.Width}, store[1]())
	}
	ADDQ(ldx, dx)
	DECQ(n)
	JNE(LabelRef("input"))
	s.Ret()
}

// MaxPlaneGrad emits the gradient of up to a vector of columns of inputs, or of pairs of them: the sum over the outputs that took the input, in the
// order of the outputs.
func MaxPlaneGrad(s emit.ISA, q Squares) {
	l := newGradLoop(s, q, "dy", "mask")
	columns, table := make([]Op, q.S), emit.GP("table")
	index := make([]reg.VecVirtual, q.S)
	for i := range columns {
		columns[i], index[i] = held(s, table, gradColumn+i), s.V()
	}
	begin := func(at Mem) {
		base := s.V()
		VPBROADCASTD(at, base)
		for i := range index {
			VPADDD(columns[i], base, index[i])
		}
	}
	l.run(begin, func(at []Mem, i int) {
		if s.EVEX {
			for _, p := range l.parities(i) {
				took := K()
				VPCMPEQD(at[1], index[p], l.loads[i](), took)
				VADDPS(at[0], l.sums[p], took, l.sums[p])
			}
			return
		}
		lanes := l.loads[i]()
		place, g := s.LoadMasked(at[1], lanes), s.LoadMasked(at[0], lanes)
		for _, p := range l.parities(i) {
			took := s.V()
			VPCMPEQD(place, index[p], took)
			VANDPS(g, took, took)
			VADDPS(took, l.sums[p], l.sums[p])
		}
	})
}

// AvePlaneGrad is as MaxPlaneGrad, but sums over all outputs that meet an input.
func AvePlaneGrad(s emit.ISA, q Squares) {
	l := newGradLoop(s, q, "dy")
	l.run(func(Mem) {}, func(at []Mem, i int) {
		g := s.LoadMasked(at[0], l.loads[i]())
		for _, p := range l.parities(i) {
			VADDPS(g, l.sums[p], l.sums[p])
		}
	})
}
