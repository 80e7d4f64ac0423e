package vpool

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// Squares is pooling by windows of K x K that are S apart.
type Squares struct{ K, S int }

// Vectors of a block's table, forward: lanes to be stored; for each load the lanes inside the image; each tap's column (the first tap's is at least
// the first column inside the image); and the divisors' extents along the row.
const (
	tableStore = iota
	tableLoad
	tableFirst  = tableLoad + 4
	tableExtent = tableFirst + 3
)

// entry is vector i of the table.
func entry(s emit.ISA, table reg.Register, i int) Mem { return Mem{Base: table, Disp: 4 * s.Width * i} }

// held is a vector of the table, in a register if there are enough.
func held(s emit.ISA, table reg.Register, i int) Op {
	if s.Registers == 32 {
		return s.Load(entry(s, table, i))
	}
	return entry(s, table, i)
}

// maskOf returns a function that gives a mask of the table: a mask register, or a vector, which is loaded for each use where registers are few.
func maskOf(s emit.ISA, table reg.Register, i int) func() reg.Register {
	if s.EVEX {
		k, v := K(), s.Load(entry(s, table, i))
		VPTESTMD(v, v, k)
		return func() reg.Register { return k }
	}
	if s.Registers == 32 {
		v := s.Load(entry(s, table, i))
		return func() reg.Register { return v }
	}
	return func() reg.Register { return s.Load(entry(s, table, i)) }
}

// loads returns the masks of the loads of a row: k loads if windows are neighbours, else two for every two taps.
func loads(s emit.ISA, q Squares, table reg.Register) []func() reg.Register {
	n := q.K
	if q.S == 2 {
		n = (q.K + 1) / 2 * 2
	}
	masks := make([]func() reg.Register, n)
	for i := range masks {
		masks[i] = maskOf(s, table, tableLoad+i)
	}
	return masks
}

// tapsOf returns the k inputs of each of a vector of windows in a row; load takes a place and the number of a load.
func tapsOf(s emit.ISA, q Squares, row reg.Register, load func(m Mem, i int) reg.VecVirtual) []reg.VecVirtual {
	taps := make([]reg.VecVirtual, q.K)
	for j := range taps {
		switch {
		case q.S == 1:
			taps[j] = load(Mem{Base: row, Disp: 4 * j}, j)
		case j%2 == 0:
			a := load(Mem{Base: row, Disp: 4 * j}, j)
			b := load(Mem{Base: row, Disp: 4 * (j + s.Width)}, j+1)
			if j+1 < q.K {
				taps[j+1] = s.EveryOther(a, b, 1)
			}
			taps[j] = s.EveryOther(a, b, 0)
		}
	}
	return taps
}

// slide emits a loop over n rows of outputs whose windows share rows. line emits row i of a window, done the end of a row of outputs.
func slide(s emit.ISA, q Squares, n reg.Register, line func(i int), done func(), keep func(from, to int)) {
	for i := range q.K - q.S {
		line(i)
	}
	Label("output")
	for i := q.K - q.S; i < q.K; i++ {
		line(i)
	}
	done()
	for i := range q.K - q.S {
		keep(i+q.S, i)
	}
	DECQ(n)
	JNE(LabelRef("output"))
	s.Ret()
}

// MaxPlane emits the maxima, and their indices in the plane, of up to a vector of columns of windows. The word of a row is the
// index of its column 0. Rows above and below the image are replaced by its first and last row, which the windows contain anyway.
// Inputs beside it count as -inf, behind the first input inside.
func MaxPlane(s emit.ISA, q Squares) {
	dst, mask, src, rows, table := emit.GP("dst"), emit.GP("mask"), emit.GP("src"), emit.GP("rows"), emit.GP("table")
	ldo, n, col := emit.GP("ldo"), emit.GP("n"), emit.GP("col")
	SHLQ(Imm(2), ldo)
	LEAQ(Mem{Base: src, Index: col, Scale: 4}, src)
	masks, least := loads(s, q, table), s.Load(s.Bits(0xff800000))
	columns := make([]Op, q.K)
	for j := range columns {
		columns[j] = held(s, table, tableFirst+j)
	}
	store := maskOf(s, table, tableStore)
	value, best := make([]reg.VecVirtual, q.K), make([]reg.VecVirtual, q.K)
	for i := range value {
		value[i], best[i] = s.V(), s.V()
	}
	line := func(i int) {
		row, base := GP64(), s.V()
		MOVQ(Mem{Base: rows}, row)
		ADDQ(src, row)
		VPBROADCASTD(Mem{Base: rows, Disp: 8}, base)
		ADDQ(Imm(16), rows)
		taps := tapsOf(s, q, row, func(m Mem, load int) reg.VecVirtual { return loadOr(s, m, masks[load](), least) })
		VMOVUPS(taps[0], value[i])
		VMOVUPS(columns[0], best[i])
		for j := 1; j < q.K; j++ {
			keepLarger(s, taps[j], columns[j], value[i], best[i])
		}
		VPADDD(base, best[i], best[i])
	}
	done := func() {
		most, at := s.Load(value[0]), s.Load(best[0])
		for i := 1; i < q.K; i++ {
			keepLarger(s, value[i], best[i], most, at)
		}
		s.StoreMasked(most, Mem{Base: dst}, store())
		s.StoreMasked(at, Mem{Base: mask}, store())
		ADDQ(ldo, dst)
		ADDQ(ldo, mask)
	}
	slide(s, q, n, line, done, func(from, to int) {
		VMOVUPS(value[from], value[to])
		VMOVUPS(best[from], best[to])
	})
}

// loadOr loads the lanes of a mask; the other lanes are those of another vector.
func loadOr(s emit.ISA, m Mem, mask reg.Register, other reg.VecVirtual) reg.VecVirtual {
	if s.EVEX {
		r := s.Load(other)
		VMOVUPS(m, mask, r)
		return r
	}
	r := s.LoadMasked(m, mask)
	VBLENDVPS(mask, r, other, r)
	return r
}

// AvePlane emits the means of up to a vector of columns of windows. A row outside the image has a negative offset; the word of
// the last row of a window is the float32 extent of the window along the columns.
func AvePlane(s emit.ISA, q Squares) {
	dst, src, rows, table := emit.GP("dst"), emit.GP("src"), emit.GP("rows"), emit.GP("table")
	ldo, n, col := emit.GP("ldo"), emit.GP("n"), emit.GP("col")
	SHLQ(Imm(2), ldo)
	LEAQ(Mem{Base: src, Index: col, Scale: 4}, src)
	masks, extent, store := loads(s, q, table), held(s, table, tableExtent), maskOf(s, table, tableStore)
	sums := make([]reg.VecVirtual, q.K)
	for i := range sums {
		sums[i] = s.V()
	}
	line := func(i int) {
		row, outside := GP64(), fmt.Sprintf("outside%d", i)
		s.Clear(sums[i])
		MOVQ(Mem{Base: rows}, row)
		ADDQ(Imm(16), rows)
		TESTQ(row, row)
		JLT(LabelRef(outside))
		ADDQ(src, row)
		taps := tapsOf(s, q, row, func(m Mem, load int) reg.VecVirtual { return s.LoadMasked(m, masks[load]()) })
		for _, x := range taps {
			VADDPS(x, sums[i], sums[i])
		}
		Label(outside)
	}
	done := func() {
		sum, divisor := s.Load(sums[0]), s.V()
		for _, x := range sums[1:] {
			VADDPS(x, sum, sum)
		}
		VBROADCASTSS(Mem{Base: rows, Disp: -8}, divisor)
		VMULPS(extent, divisor, divisor)
		VDIVPS(divisor, sum, sum)
		s.StoreMasked(sum, Mem{Base: dst}, store())
		ADDQ(ldo, dst)
	}
	slide(s, q, n, line, done, func(from, to int) { VMOVUPS(sums[from], sums[to]) })
}
