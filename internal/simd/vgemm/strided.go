package vgemm

import (
	"github.com/swcaffe/swcaffe/internal/simd/isa"
	"github.com/swcaffe/swcaffe/internal/simd/vec"
)

// StridedPanel is a micro-kernel whose operands are not packed: C[i][j] (+)= Σp a[i*row+p*col]*b[p*ldb+j] over p < k, for m rows and n columns.
// The rows are those of any number of tiles, the columns at most those of one. In A, either the values of a row lie side by side (col is 1) or
// those of a column (row is 1). It reads StridedRows(m) rows of A, and whole vectors of B's columns. C is not read unless accumulate is set.
func StridedPanel(m, n, k int, a []float32, row, col int, b []float32, ldb int, c []float32, ldc int, accumulate bool) {
	if m == 0 {
		return
	}
	if !isa.Vectors() || k == 0 {
		stridedGo(k, a, row, col, b, ldb, c, ldc, m, n, accumulate)
		return
	}
	mr, _ := Tile()
	whole := quotient(m, mr)
	at := whole * mr
	rest, lanes := m-at, isa.Width()*vectors(n)
	_, _, _ = a[(at+upTo(rest, mr)-1)*row+(k-1)*col], b[(k-1)*ldb+lanes-1], c[(m-1)*ldc+n-1]
	if whole > 0 {
		strided(mr, k, &a[0], row, col, &b[0], ldb, &c[0], ldc, accumulate, whole, mr, n)
	}
	if rest > 0 {
		strided(upTo(rest, mr), k, &a[at*row], row, col, &b[0], ldb, &c[at*ldc], ldc, accumulate, 1, rest, n)
	}
}

// strided calls the micro-kernel of some rows for several tiles; the last tile has m rows.
func strided(rows, k int, a *float32, row, col int, b *float32, ldb int, c *float32, ldc int, accumulate bool, tiles, m, n int) {
	switch {
	case col == 1:
		byRows(rows, vectors(n), k, a, row, b, ldb, c, ldc, accumulate, tiles, m, n, isa.Mask(0))
	case row == 1:
		byColumns(rows, vectors(n), k, a, col, b, ldb, c, ldc, accumulate, tiles, m, n, isa.Mask(0))
	default:
		panic("vgemm: neither the rows nor the columns of A lie side by side")
	}
}

// StridedRows is the number of rows of A that StridedPanel reads to store m rows: those of whole tiles, and of the smallest kernel for the rest.
func StridedRows(m int) int {
	if !isa.Vectors() {
		return m
	}
	mr, _ := Tile()
	whole := quotient(m, mr) * mr
	return whole + upTo(m-whole, mr)
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
