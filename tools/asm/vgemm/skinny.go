package vgemm

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/swcaffe/swcaffe/tools/asm/emit"
)

// rowsFrom makes the addresses of n rows that are ld bytes apart, from that of the first.
func rowsFrom(first, ld reg.Register, n int) []reg.Register {
	rows := []reg.Register{first}
	for i := 1; i < n; i++ {
		next := GP64()
		LEAQ(Mem{Base: rows[i-1], Index: ld, Scale: 1}, next)
		rows = append(rows, next)
	}
	return rows
}

// lines fetches a row's lines ahead of the vectors at an index.
func lines(s emit.ISA, row, at reg.Register, disps []int) {
	for _, d := range disps {
		if d%64 == 0 {
			PREFETCHT0(Mem{Base: row, Index: at, Scale: 1, Disp: d + emit.Ahead})
		}
	}
}

// DotRows emits sums[i*rows+j] = Σp a[i*lda+p]*b[j*ldb+p] over p < k for m rows of a and rows of b. The order of summation does not depend on the
// number of rows of b.
func DotRows(s emit.ISA, m, rows int) {
	sums := emit.GP("sums")
	lda, ldb := emit.GP("lda"), emit.GP("ldb")
	SHLQ(Imm(2), lda)
	SHLQ(Imm(2), ldb)
	left := rowsFrom(emit.GP("a"), lda, m)
	right := rowsFrom(emit.GP("b"), ldb, rows)
	k, words := emit.GP("k"), emit.GP("words")
	vectors := 2
	if s.Registers == 16 {
		vectors = 2 / m // sums of all rows in 16 registers
	}
	acc := make([][]reg.VecVirtual, vectors)
	for u := range acc {
		acc[u] = s.Zeros(m * rows)
	}
	s.EachColumn(k, words, vectors, func(at reg.Register, disps []int, mask reg.Register) {
		for _, row := range right {
			lines(s, row, at, disps)
		}
		for u, d := range disps {
			x := make([]reg.VecVirtual, m)
			for i := range x {
				x[i] = s.LoadWhole(Mem{Base: left[i], Index: at, Scale: 1, Disp: d}, mask)
			}
			for j, row := range right {
				w := s.LoadWhole(Mem{Base: row, Index: at, Scale: 1, Disp: d}, mask)
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
		storeFour(s, x, Mem{Base: sums, Disp: 4 * rows * i}, rows)
	}
	s.Ret()
}

// storeFour stores the sums of the lanes of the first n of four registers; n is 4 or 1.
func storeFour(s emit.ISA, x [4]reg.VecVirtual, to Mem, n int) {
	var sum reg.VecVirtual
	emit.TurnFour(x, s.V, func(_ int, column reg.VecVirtual) {
		if sum == nil {
			sum = column
			return
		}
		sum = s.Add(sum, column)
	})
	half, low := YMM(), XMM()
	if s.EVEX {
		VEXTRACTF64X4(Imm(1), sum, half)
		VADDPS(half, sum.AsY(), half)
	} else {
		half = sum
	}
	if s.Width == 4 {
		low = sum
	} else {
		VEXTRACTF128(Imm(1), half, low)
		VADDPS(low, half.AsX(), low)
	}
	if n == 4 {
		VMOVUPS(low, to)
	} else {
		VMOVSS(low, to)
	}
}

// MixRows emits d[i*ldd+c] += Σr a[i*lda+r]*b[r*ldb+c] over four rows r, for m rows of d and n columns.
func MixRows(s emit.ISA, m int) {
	ldd, lda, ldb := emit.GP("ldd"), emit.GP("lda"), emit.GP("ldb")
	for _, ld := range []reg.Register{ldd, lda, ldb} {
		SHLQ(Imm(2), ld)
	}
	to := rowsFrom(emit.GP("d"), ldd, m)
	var factors [][4]reg.VecVirtual
	for _, row := range rowsFrom(emit.GP("a"), lda, m) {
		var f [4]reg.VecVirtual
		for r := range f {
			f[r] = s.V()
			VBROADCASTSS(Mem{Base: row, Disp: 4 * r}, f[r])
		}
		factors = append(factors, f)
	}
	from := rowsFrom(emit.GP("b"), ldb, 4)
	n, words := emit.GP("n"), emit.GP("words")
	s.EachColumn(n, words, 2, func(at reg.Register, disps []int, mask reg.Register) {
		for _, row := range from {
			lines(s, row, at, disps)
		}
		for _, d := range disps {
			sums := make([]reg.VecVirtual, m)
			for i := range sums {
				sums[i] = s.LoadWhole(Mem{Base: to[i], Index: at, Scale: 1, Disp: d}, mask)
			}
			for r, row := range from {
				x := s.LoadWhole(Mem{Base: row, Index: at, Scale: 1, Disp: d}, mask)
				for i := range sums {
					VFMADD231PS(x, factors[i][r], sums[i])
				}
			}
			for i := range sums {
				s.StoreWhole(sums[i], Mem{Base: to[i], Index: at, Scale: 1, Disp: d}, mask)
			}
		}
	})
	s.Ret()
}

// OuterRows emits d[r*ldd+c] = Σi a[i*lda+r]*x[i*ldx+c] over m rows of x, for the rows and n columns of d, or adds the sums to d.
func OuterRows(s emit.ISA, m int, add bool) {
	to, rows := emit.GP("d"), emit.GP("rows")
	ldd, lda, ldx := emit.GP("ldd"), emit.GP("lda"), emit.GP("ldx")
	for _, ld := range []reg.Register{ldd, lda, ldx} {
		SHLQ(Imm(2), ld)
	}
	coefficients := rowsFrom(emit.GP("a"), lda, m)
	from := rowsFrom(emit.GP("x"), ldx, m)
	n, words := GP64(), emit.GP("words")
	Label("row")
	factors := make([]reg.VecVirtual, m)
	for i, at := range coefficients {
		factors[i] = s.V()
		VBROADCASTSS(Mem{Base: at}, factors[i])
		ADDQ(Imm(4), at)
	}
	Load(Param("n"), n)
	s.EachColumn(n, words, 4, func(at reg.Register, disps []int, mask reg.Register) {
		lines(s, to, at, disps)
		for _, d := range disps {
			place := Mem{Base: to, Index: at, Scale: 1, Disp: d}
			var sum reg.VecVirtual
			if add {
				sum = s.LoadWhole(place, mask)
			}
			for i, row := range from {
				x := s.LoadWhole(Mem{Base: row, Index: at, Scale: 1, Disp: d}, mask)
				if sum == nil {
					sum = s.Mul(x, factors[i])
				} else {
					VFMADD231PS(x, factors[i], sum)
				}
			}
			s.StoreWhole(sum, place, mask)
		}
	})
	ADDQ(ldd, to)
	DECQ(rows)
	JNE(LabelRef("row"))
	s.Ret()
}
