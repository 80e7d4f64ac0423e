package vgemm

import (
	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// DotTile is the largest number of rows of b in a call of DotRows, MixTile the number of rows that MixRows adds at a time.
const DotTile, MixTile = 4, 4

// DotRows sets sums[i*n+j] = Σp a[i*lda+p]*b[j*ldb+p] over p < k, for m rows of a, 1 or 2, and n of b, at most DotTile. With vectors it adds in float32
// in an order that depends only on k and m; plain Go adds in float64.
func DotRows(sums, a []float32, lda, m int, b []float32, ldb, n, k int) {
	tile, one := have.DotRows[m][DotTile], have.DotRows[m][1]
	if tile == none || one == none || k == 0 || m*n == 0 {
		for i := range m {
			for j := range n {
				sums[i*n+j] = float32(vec.Dot(a[i*lda:][:k], b[j*ldb:]))
			}
		}
		return
	}
	_, _, _ = sums[m*n-1], a[(m-1)*lda+k-1], b[(n-1)*ldb+k-1]
	if n == DotTile {
		tile.run(&sums[0], &a[0], lda, &b[0], ldb, k, isa.Mask(0))
		return
	}
	var dots [2]float32
	for j := range n {
		one.run(&dots[0], &a[0], lda, &b[j*ldb], ldb, k, isa.Mask(0))
		for i, sum := range dots[:m] {
			sums[i*n+j] = sum
		}
	}
}

// HasDots reports whether DotRows has kernels for two rows of a.
func HasDots() bool { return have.DotRows[2][DotTile] != none && have.DotRows[2][1] != none }

// MixRows adds Σr a[i*lda+r]*b[r*ldb+c] to d[i*ldd+c], over the rows r of b, for m rows of d, 1 or 2, and n columns. The bits of a column do not
// depend on n.
func MixRows(d []float32, ldd int, a []float32, lda, m int, b []float32, ldb, rows, n int) {
	r := 0
	if mix := have.MixRows[m]; mix != none && m*n > 0 && rows >= MixTile {
		_, _, _ = d[(m-1)*ldd+n-1], a[(m-1)*lda+rows-1], b[(rows-1)*ldb+n-1]
		for ; r+MixTile <= rows; r += MixTile {
			mix.run(&d[0], ldd, &a[r], lda, &b[r*ldb], ldb, n, isa.Mask(0))
		}
	}
	for ; r < rows; r++ {
		for i := range m {
			vec.AddRow(d[i*ldd:][:n], b[r*ldb:][:n], a[i*lda+r])
		}
	}
}

// OuterRows sets d[r*ldd+c] = Σi a[i*lda+r]*x[i*ldx+c] over m rows of x, 1 or 2, for n columns of rows r of d. With add it adds the sum to d.
func OuterRows(d []float32, ldd, rows int, a []float32, lda int, x []float32, ldx, m, n int, add bool) {
	outer := have.OuterRows[m][0]
	if add {
		outer = have.OuterRows[m][1]
	}
	if outer != none && n > 0 && rows > 0 {
		_, _, _ = d[(rows-1)*ldd+n-1], a[(m-1)*lda+rows-1], x[(m-1)*ldx+n-1]
		outer.run(&d[0], ldd, rows, &a[0], lda, &x[0], ldx, n, isa.Mask(0))
		return
	}
	for r := range rows {
		to := d[r*ldd:][:n]
		if !add {
			clear(to)
		}
		for i := range m {
			vec.Axpy(to, x[i*ldx:], a[i*lda+r])
		}
	}
}
