package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// squares is pooling by windows of k x k that are s apart.
type squares struct{ k, s int }

// Vectors of a block's table, forward: lanes to be stored, lanes inside the image of each load, each tap's column, but for the
// first the first column inside the image, and the divisors' extents along the row.
const (
	tableStore = iota
	tableLoad
	tableFirst  = tableLoad + 4
	tableExtent = tableFirst + 3
)

// entry is vector i of the table.
func (s isa) entry(table reg.Register, i int) Mem { return Mem{Base: table, Disp: 4 * s.w * i} }

// held is a vector of the table: in a register where there are enough.
func (s isa) held(table reg.Register, i int) Op {
	if s.w == 16 {
		return s.load(s.entry(table, i))
	}
	return s.entry(table, i)
}

// maskOf returns a function that gives a mask of the table: a mask register, or a vector that is loaded for each use.
func (s isa) maskOf(table reg.Register, i int) func() reg.Register {
	if s.w == 16 {
		k, v := K(), s.load(s.entry(table, i))
		VPTESTMD(v, v, k)
		return func() reg.Register { return k }
	}
	return func() reg.Register { return s.load(s.entry(table, i)) }
}

// loads returns the masks of the loads of a row, which are k for neighbouring windows and else two for every two taps.
func (s isa) loads(q squares, table reg.Register) []func() reg.Register {
	n := q.k
	if q.s == 2 {
		n = (q.k + 1) / 2 * 2
	}
	masks := make([]func() reg.Register, n)
	for i := range masks {
		masks[i] = s.maskOf(table, tableLoad+i)
	}
	return masks
}

// tapsOf returns the k inputs of each of a vector of windows in a row; load takes a place and the number of a load.
func (s isa) tapsOf(q squares, row reg.Register, load func(m Mem, i int) reg.VecVirtual) []reg.VecVirtual {
	taps := make([]reg.VecVirtual, q.k)
	for j := range taps {
		switch {
		case q.s == 1:
			taps[j] = load(Mem{Base: row, Disp: 4 * j}, j)
		case j%2 == 0:
			a := load(Mem{Base: row, Disp: 4 * j}, j)
			b := load(Mem{Base: row, Disp: 4 * (j + s.w)}, j+1)
			if j+1 < q.k {
				taps[j+1] = s.everyOther(a, b, 1)
			}
			taps[j] = s.everyOther(a, b, 0)
		}
	}
	return taps
}

// everyOther returns lanes from, from+2, ... of two vectors.
func (s isa) everyOther(a, b reg.VecVirtual, from int) reg.VecVirtual {
	r := s.load(a)
	if s.w == 16 {
		VPERMT2PS(b, s.load(s.sequence(from, 2)), r)
		return r
	}
	VSHUFPS(Imm([]uint64{0x88, 0xdd}[from]), b, a, r)
	VPERMPD(Imm(0xd8), r, r)
	return r
}

// sequence is the constant vector from, from+step, ...
func (s isa) sequence(from, step int) Mem {
	return s.words(fmt.Sprintf("seq%d_%d_%d", s.w, from, step), func(i int) int { return from + i*step })
}

// slide emits a loop over n rows of outputs whose windows share rows: line works out row i of a window, done an output row.
func (s isa) slide(q squares, n reg.Register, line func(i int), done func(), keep func(from, to int)) {
	for i := range q.k - q.s {
		line(i)
	}
	Label("output")
	for i := q.k - q.s; i < q.k; i++ {
		line(i)
	}
	done()
	for i := range q.k - q.s {
		keep(i+q.s, i)
	}
	DECQ(n)
	JNE(LabelRef("output"))
	VZEROUPPER()
	RET()
}

// maxPlane emits the maxima, and their indices in the plane, of up to a vector of columns of windows. The word of a row is the
// index of its column 0. Rows above or below the image are those of its edges, which the windows have anyway, and inputs
// beside it count as -inf that comes after the first input inside.
func (s isa) maxPlane(q squares) {
	dst, mask, src, rows, table := gp("dst"), gp("mask"), gp("src"), gp("rows"), gp("table")
	ldo, n, col := gp("ldo"), gp("n"), gp("col")
	SHLQ(Imm(2), ldo)
	LEAQ(Mem{Base: src, Index: col, Scale: 4}, src)
	masks, least := s.loads(q, table), s.load(s.bits(0xff800000))
	columns := make([]Op, q.k)
	for j := range columns {
		columns[j] = s.held(table, tableFirst+j)
	}
	store := s.maskOf(table, tableStore)
	value, best := make([]reg.VecVirtual, q.k), make([]reg.VecVirtual, q.k)
	for i := range value {
		value[i], best[i] = s.v(), s.v()
	}
	line := func(i int) {
		row, base := GP64(), s.v()
		MOVQ(Mem{Base: rows}, row)
		ADDQ(src, row)
		VPBROADCASTD(Mem{Base: rows, Disp: 8}, base)
		ADDQ(Imm(16), rows)
		taps := s.tapsOf(q, row, func(m Mem, load int) reg.VecVirtual { return s.loadOr(m, masks[load](), least) })
		VMOVUPS(taps[0], value[i])
		VMOVUPS(columns[0], best[i])
		for j := 1; j < q.k; j++ {
			s.keepLarger(taps[j], columns[j], value[i], best[i])
		}
		VPADDD(base, best[i], best[i])
	}
	done := func() {
		most, at := s.load(value[0]), s.load(best[0])
		for i := 1; i < q.k; i++ {
			s.keepLarger(value[i], best[i], most, at)
		}
		s.storeMasked(most, Mem{Base: dst}, store())
		s.storeMasked(at, Mem{Base: mask}, store())
		ADDQ(ldo, dst)
		ADDQ(ldo, mask)
	}
	s.slide(q, n, line, done, func(from, to int) {
		VMOVUPS(value[from], value[to])
		VMOVUPS(best[from], best[to])
	})
}

// loadOr loads the lanes of a mask, the others being those of another vector.
func (s isa) loadOr(m Mem, mask reg.Register, other reg.VecVirtual) reg.VecVirtual {
	if s.w == 16 {
		r := s.load(other)
		VMOVUPS(m, mask, r)
		return r
	}
	r := s.loadMasked(m, mask)
	VBLENDVPS(mask, r, other, r)
	return r
}

// avePlane emits the means of up to a vector of columns of windows. A row outside the image has a negative offset; the word of
// the last row of a window is the float32 extent of the window along the columns.
func (s isa) avePlane(q squares) {
	dst, src, rows, table := gp("dst"), gp("src"), gp("rows"), gp("table")
	ldo, n, col := gp("ldo"), gp("n"), gp("col")
	SHLQ(Imm(2), ldo)
	LEAQ(Mem{Base: src, Index: col, Scale: 4}, src)
	masks, extent, store := s.loads(q, table), s.held(table, tableExtent), s.maskOf(table, tableStore)
	sums := make([]reg.VecVirtual, q.k)
	for i := range sums {
		sums[i] = s.v()
	}
	line := func(i int) {
		row, outside := GP64(), fmt.Sprintf("outside%d", i)
		if s.w == 16 {
			VPXORD(sums[i], sums[i], sums[i])
		} else {
			VXORPS(sums[i], sums[i], sums[i])
		}
		MOVQ(Mem{Base: rows}, row)
		ADDQ(Imm(16), rows)
		TESTQ(row, row)
		JLT(LabelRef(outside))
		ADDQ(src, row)
		taps := s.tapsOf(q, row, func(m Mem, load int) reg.VecVirtual { return s.loadMasked(m, masks[load]()) })
		for _, x := range taps {
			VADDPS(x, sums[i], sums[i])
		}
		Label(outside)
	}
	done := func() {
		sum, divisor := s.load(sums[0]), s.v()
		for _, x := range sums[1:] {
			VADDPS(x, sum, sum)
		}
		VBROADCASTSS(Mem{Base: rows, Disp: -8}, divisor)
		VMULPS(extent, divisor, divisor)
		VDIVPS(divisor, sum, sum)
		s.storeMasked(sum, Mem{Base: dst}, store())
		ADDQ(ldo, dst)
	}
	s.slide(q, n, line, done, func(from, to int) { VMOVUPS(sums[from], sums[to]) })
}
