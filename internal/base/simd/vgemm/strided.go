package vgemm

import (
	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// byRows and byColumns are the orders of A that Strided has kernels for: which values lie side by side.
const byRows, byColumns = 0, 1

// StridedPanel is a micro-kernel whose operands are not packed: C[i][j] (+)= Σp a[i*row+p*col]*b[p*ldb+j] over p < k, for m rows and n columns.
// The rows are those of any number of tiles, the columns at most those of one. In A, either the values of a row lie side by side (col is 1) or
// those of a column (row is 1). It reads StridedRows(m) rows of A, and whole vectors of B's columns. C is not read unless accumulate is set.
func StridedPanel(m, n, k int, a []float32, row, col int, b []float32, ldb int, c []float32, ldc int, accumulate bool) {
	if m == 0 {
		return
	}
	kernels, step := &have.Strided[byRows], row
	switch {
	case col == 1:
	case row == 1:
		kernels, step = &have.Strided[byColumns], col
	default:
		panic("vgemm: neither the rows nor the columns of A lie side by side")
	}
	whole, v := quotient(m, have.Rows), vectors(n)
	at := whole * have.Rows
	rest := m - at
	tile, edge := kernels[3][v], kernels[thirds(rest)][v]
	if k == 0 || whole > 0 && tile == none || rest > 0 && edge == none {
		stridedGo(k, a, row, col, b, ldb, c, ldc, m, n, accumulate)
		return
	}
	_, _, _ = a[(StridedRows(m)-1)*row+(k-1)*col], b[(k-1)*ldb+v*have.Columns/2-1], c[(m-1)*ldc+n-1]
	if whole > 0 {
		tile.run(k, &a[0], step, &b[0], ldb, &c[0], ldc, accumulate, whole, have.Rows, n, isa.Mask(0))
	}
	if rest > 0 {
		edge.run(k, &a[at*row], step, &b[0], ldb, &c[at*ldc], ldc, accumulate, 1, rest, n, isa.Mask(0))
	}
}

// HasStrided reports whether StridedPanel has kernels. In plain Go, products of packed operands take less time.
func HasStrided() bool {
	return have.Strided[byRows][3][2] != none && have.Strided[byColumns][3][2] != none
}

// StridedRows is the number of rows of A that StridedPanel reads to store m rows: those of whole tiles, and of the smallest kernel for the rest.
func StridedRows(m int) int {
	if !HasStrided() {
		return m
	}
	whole := quotient(m, have.Rows) * have.Rows
	return whole + thirds(m-whole)*(have.Rows/3)
}

// quotient is a/b. Dividing 32 bits takes a third of the time.
func quotient(a, b int) int { return int(uint32(a) / uint32(b)) }

// stridedGo is StridedPanel in plain Go.
func stridedGo(k int, a []float32, row, col int, b []float32, ldb int, c []float32, ldc, m, n int, accumulate bool) {
	const lanes = len(vec.Eight{})
	whole := n / lanes * lanes
	for i := range m {
		to := c[i*ldc : i*ldc+n]
		if !accumulate {
			clear(to)
		}
		if k == 0 {
			continue
		}
		for j := 0; j < whole; j += lanes {
			(*vec.Eight)(to[j:]).AddProducts(k, a[i*row:], col, b[j:], ldb)
		}
		rest := to[whole:]
		if len(rest) == 0 {
			continue
		}
		for p := range k {
			x := a[i*row+p*col]
			for j, y := range b[p*ldb+whole:][:len(rest)] {
				rest[j] += x * y
			}
		}
	}
}
