package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rowsFrom makes the addresses of n rows that are ld bytes apart, the first being there.
func rowsFrom(first, ld reg.Register, n int) []reg.Register {
	rows := []reg.Register{first}
	for i := 1; i < n; i++ {
		next := GP64()
		LEAQ(Mem{Base: rows[i-1], Index: ld, Scale: 1}, next)
		rows = append(rows, next)
	}
	return rows
}

// lines fetches the lines of vectors at an index of a row a page ahead.
func (s isa) lines(row, at reg.Register, disps []int) {
	for _, d := range disps {
		if d%64 == 0 {
			PREFETCHT0(Mem{Base: row, Index: at, Scale: 1, Disp: d + ahead})
		}
	}
}

// dotRows emits sums[i*rows+j] = Σp a[i*lda+p]*b[j*ldb+p] over p < k for m rows of a and so many of b. Sums have the same order
// whatever the rows of b.
func (s isa) dotRows(m, rows int) {
	sums := Load(Param("sums"), GP64())
	lda, ldb := Load(Param("lda"), GP64()), Load(Param("ldb"), GP64())
	SHLQ(Imm(2), lda)
	SHLQ(Imm(2), ldb)
	left := rowsFrom(Load(Param("a"), GP64()), lda, m)
	right := rowsFrom(Load(Param("b"), GP64()), ldb, rows)
	k, words := Load(Param("k"), GP64()), Load(Param("words"), GP64())
	vectors := 2
	if s.w == 8 {
		vectors = 2 / m // sums of all rows in 16 registers
	}
	acc := make([][]reg.VecVirtual, vectors)
	for u := range acc {
		acc[u] = s.zeros(m * rows)
	}
	s.eachColumn(k, words, vectors, func(at reg.Register, disps []int, mask reg.Register) {
		for _, row := range right {
			s.lines(row, at, disps)
		}
		for u, d := range disps {
			x := make([]reg.VecVirtual, m)
			for i := range x {
				x[i] = s.loadWhole(Mem{Base: left[i], Index: at, Scale: 1, Disp: d}, mask)
			}
			for j, row := range right {
				w := s.loadWhole(Mem{Base: row, Index: at, Scale: 1, Disp: d}, mask)
				for i := range x {
					VFMADD231PS(w, x[i], acc[u][i*rows+j])
				}
			}
		}
	})
	for i := range m {
		var x [4]reg.VecVirtual
		for j := range x {
			x[j] = acc[0][i*rows+j%rows]
			if vectors == 2 && j < rows {
				VADDPS(acc[1][i*rows+j], x[j], x[j])
			}
		}
		s.storeFour(x, Mem{Base: sums, Disp: 4 * rows * i}, rows)
	}
	VZEROUPPER()
	RET()
}

// storeFour stores the sums of the lanes of the first n of four registers, n being 4 or 1.
func (s isa) storeFour(x [4]reg.VecVirtual, to Mem, n int) {
	var sum reg.VecVirtual
	turnFour(x, s.v, func(_ int, column reg.VecVirtual) {
		if sum == nil {
			sum = column
			return
		}
		sum = s.add(sum, column)
	})
	half, low := YMM(), XMM()
	if s.w == 16 {
		VEXTRACTF64X4(Imm(1), sum, half)
		VADDPS(half, sum.AsY(), half)
	} else {
		half = sum
	}
	VEXTRACTF128(Imm(1), half, low)
	VADDPS(low, half.AsX(), low)
	if n == 4 {
		VMOVUPS(low, to)
	} else {
		VMOVSS(low, to)
	}
}

// mixRows emits d[i*ldd+c] += Σr a[i*lda+r]*b[r*ldb+c] over four rows r, for m rows of d and n columns.
func (s isa) mixRows(m int) {
	ldd, lda, ldb := Load(Param("ldd"), GP64()), Load(Param("lda"), GP64()), Load(Param("ldb"), GP64())
	for _, ld := range []reg.Register{ldd, lda, ldb} {
		SHLQ(Imm(2), ld)
	}
	to := rowsFrom(Load(Param("d"), GP64()), ldd, m)
	var factors [][4]reg.VecVirtual
	for _, row := range rowsFrom(Load(Param("a"), GP64()), lda, m) {
		var f [4]reg.VecVirtual
		for r := range f {
			f[r] = s.v()
			VBROADCASTSS(Mem{Base: row, Disp: 4 * r}, f[r])
		}
		factors = append(factors, f)
	}
	from := rowsFrom(Load(Param("b"), GP64()), ldb, 4)
	n, words := Load(Param("n"), GP64()), Load(Param("words"), GP64())
	s.eachColumn(n, words, 2, func(at reg.Register, disps []int, mask reg.Register) {
		for _, row := range from {
			s.lines(row, at, disps)
		}
		for _, d := range disps {
			sums := make([]reg.VecVirtual, m)
			for i := range sums {
				sums[i] = s.loadWhole(Mem{Base: to[i], Index: at, Scale: 1, Disp: d}, mask)
			}
			for r, row := range from {
				x := s.loadWhole(Mem{Base: row, Index: at, Scale: 1, Disp: d}, mask)
				for i := range sums {
					VFMADD231PS(x, factors[i][r], sums[i])
				}
			}
			for i := range sums {
				s.storeWhole(sums[i], Mem{Base: to[i], Index: at, Scale: 1, Disp: d}, mask)
			}
		}
	})
	VZEROUPPER()
	RET()
}

// outerRows emits d[r*ldd+c] = Σi a[i*lda+r]*x[i*ldx+c] over m rows of x, for so many rows of d and n columns, or adds that to it.
func (s isa) outerRows(m int, add bool) {
	to, rows := Load(Param("d"), GP64()), Load(Param("rows"), GP64())
	ldd, lda, ldx := Load(Param("ldd"), GP64()), Load(Param("lda"), GP64()), Load(Param("ldx"), GP64())
	for _, ld := range []reg.Register{ldd, lda, ldx} {
		SHLQ(Imm(2), ld)
	}
	coefficients := rowsFrom(Load(Param("a"), GP64()), lda, m)
	from := rowsFrom(Load(Param("x"), GP64()), ldx, m)
	n, words := GP64(), Load(Param("words"), GP64())
	Label("row")
	factors := make([]reg.VecVirtual, m)
	for i, at := range coefficients {
		factors[i] = s.v()
		VBROADCASTSS(Mem{Base: at}, factors[i])
		ADDQ(Imm(4), at)
	}
	Load(Param("n"), n)
	s.eachColumn(n, words, 4, func(at reg.Register, disps []int, mask reg.Register) {
		s.lines(to, at, disps)
		for _, d := range disps {
			place := Mem{Base: to, Index: at, Scale: 1, Disp: d}
			var sum reg.VecVirtual
			if add {
				sum = s.loadWhole(place, mask)
			}
			for i, row := range from {
				x := s.loadWhole(Mem{Base: row, Index: at, Scale: 1, Disp: d}, mask)
				if sum == nil {
					sum = s.mul(x, factors[i])
				} else {
					VFMADD231PS(x, factors[i], sum)
				}
			}
			s.storeWhole(sum, place, mask)
		}
	})
	ADDQ(ldd, to)
	DECQ(rows)
	JNE(LabelRef("row"))
	VZEROUPPER()
	RET()
}
