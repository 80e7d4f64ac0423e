package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Vectors of a block's table, backward: lanes of inputs to be stored, of the second vector too where windows are 2 apart, lanes of
// each load that are outputs, and the inputs' columns, of even and odd ones where windows are 2 apart.
const (
	gradStore  = 0
	gradLoad   = 2
	gradColumn = gradLoad + 3
)

// gradLoop is what the backward kernels share: loops over rows of inputs, over the rows of outputs that meet them, and over the
// taps of a row, which begin and tap work out.
type gradLoop struct {
	isa
	q       squares
	outputs []reg.Register        // where a row of outputs is in each array
	loads   []func() reg.Register // lanes of each tap
	sums    []reg.VecVirtual      // of inputs, or of even and odd ones
}

// newGradLoop loads the arrays that a kernel reads.
func (s isa) newGradLoop(q squares, arrays ...string) *gradLoop {
	l := &gradLoop{isa: s, q: q}
	table, from := gp("table"), gp("from")
	for _, a := range arrays {
		at := gp(a)
		LEAQ(Mem{Base: at, Index: from, Scale: 4}, at)
		l.outputs = append(l.outputs, at)
	}
	for i := range (q.k-1)/q.s + 1 {
		l.loads = append(l.loads, s.maskOf(table, gradLoad+i))
	}
	for range q.s {
		l.sums = append(l.sums, s.v())
	}
	return l
}

// parities returns which sums get output i of those that meet a lane: where windows are 2 apart, the last meets the even input and
// the odd one, the one before it only the even one.
func (l *gradLoop) parities(i int) []int {
	if l.q.s == 2 && i == len(l.loads)-1 {
		return []int{0, 1}
	}
	return []int{0}
}

// run emits the loops. begin gets the place of a row's index; tap adds output i of a row of outputs, at the places at, to the sums.
func (l *gradLoop) run(begin func(index Mem), tap func(at []Mem, i int)) {
	s := l.isa
	dx, table, rows, n, ldx, ldo, to := gp("dx"), gp("table"), gp("rows"), gp("n"), gp("ldx"), gp("ldo"), gp("to")
	LEAQ(Mem{Base: dx, Index: to, Scale: 4}, dx)
	SHLQ(Imm(2), ldx)
	SHLQ(Imm(2), ldo)
	store := []func() reg.Register{s.maskOf(table, gradStore), nil}
	if l.q.s == 2 {
		store[1] = s.maskOf(table, gradStore+1)
	}
	Label("input")
	for _, sum := range l.sums {
		if s.w == 16 {
			VPXORD(sum, sum, sum)
		} else {
			VXORPS(sum, sum, sum)
		}
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
	if l.q.s == 1 {
		s.storeMasked(l.sums[0], Mem{Base: dx}, store[0]())
	} else {
		lo, hi := s.interleave(l.sums[0], l.sums[1])
		s.storeMasked(lo, Mem{Base: dx}, store[0]())
		s.storeMasked(hi, Mem{Base: dx, Disp: 4 * s.w}, store[1]())
	}
	ADDQ(ldx, dx)
	DECQ(n)
	JNE(LabelRef("input"))
	VZEROUPPER()
	RET()
}

// interleave returns lanes of a and b in turn.
func (s isa) interleave(a, b reg.VecVirtual) (lo, hi reg.VecVirtual) {
	if s.w == 16 {
		lo, hi = s.load(a), s.load(a)
		for half, r := range []reg.VecVirtual{lo, hi} {
			name := fmt.Sprintf("turns%d", half)
			VPERMT2PS(b, s.load(s.words(name, func(i int) int { return half*8 + i/2 + i%2*16 })), r)
		}
		return lo, hi
	}
	l, h := s.v(), s.v()
	VUNPCKLPS(b, a, l)
	VUNPCKHPS(b, a, h)
	lo, hi = s.v(), s.v()
	VPERM2F128(Imm(0x20), h, l, lo)
	VPERM2F128(Imm(0x31), h, l, hi)
	return lo, hi
}

// maxPlaneGrad emits the gradient of up to a vector of columns of inputs, or of pairs of them: the sum, in the order of the outputs,
// of those that took the input.
func (s isa) maxPlaneGrad(q squares) {
	l := s.newGradLoop(q, "dy", "mask")
	columns, table := make([]Op, q.s), gp("table")
	index := make([]reg.VecVirtual, q.s)
	for i := range columns {
		columns[i], index[i] = s.held(table, gradColumn+i), s.v()
	}
	begin := func(at Mem) {
		base := s.v()
		VPBROADCASTD(at, base)
		for i := range index {
			VPADDD(columns[i], base, index[i])
		}
	}
	l.run(begin, func(at []Mem, i int) {
		if s.w == 16 {
			for _, p := range l.parities(i) {
				took := K()
				VPCMPEQD(at[1], index[p], l.loads[i](), took)
				VADDPS(at[0], l.sums[p], took, l.sums[p])
			}
			return
		}
		lanes := l.loads[i]()
		place, g := s.loadMasked(at[1], lanes), s.loadMasked(at[0], lanes)
		for _, p := range l.parities(i) {
			took := s.v()
			VPCMPEQD(place, index[p], took)
			VANDPS(g, took, took)
			VADDPS(took, l.sums[p], l.sums[p])
		}
	})
}

// avePlaneGrad is as maxPlaneGrad, of all outputs that meet an input.
func (s isa) avePlaneGrad(q squares) {
	l := s.newGradLoop(q, "dy")
	l.run(func(Mem) {}, func(at []Mem, i int) {
		g := s.loadMasked(at[0], l.loads[i]())
		for _, p := range l.parities(i) {
			VADDPS(g, l.sums[p], l.sums[p])
		}
	})
}
