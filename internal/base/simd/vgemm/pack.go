package vgemm

import (
	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// sixRows is the number of rows of the panels that PackA's kernel packs.
const sixRows = 6

// PackA packs rows x k values of row-major src, of leading dimension ld, into a panel of mr rows: dst[p*mr+i] = src[i*ld+p], zero for i >= rows.
// mr may also be the nr of Tile, for panels of a B that is stored by columns.
func PackA(dst, src []float32, ld, rows, k, mr int) {
	if mr == have.Columns {
		if rows < mr {
			clear(dst[:k*mr])
		}
		vec.Transpose(dst, src, mr, ld, rows, k)
		return
	}
	if have.PackPanel != none && mr == have.Rows && rows > 0 && k > 0 {
		_, _ = dst[k*mr-1], src[(rows-1)*ld+k-1]
		have.PackPanel.run(&dst[0], &src[0], ld, rows, k, isa.Mask(0))
		return
	}
	p := 0
	if have.PackA != none && rows == mr && mr == sixRows && k >= 4 {
		p = k &^ 3
		_, _ = dst[k*mr-1], src[(mr-1)*ld+k-1]
		have.PackA.run(&dst[0], &src[0], ld, p)
	}
	if p == k {
		return
	}
	i := 0
	for ; i+4 <= rows; i += 4 {
		packFour(dst[i:], src[i*ld:], ld, p, k, mr)
	}
	for ; i < rows; i++ {
		to := dst[i:]
		for q, v := range src[i*ld+p : i*ld+k] {
			to[(p+q)*mr] = v
		}
	}
	if rows < mr {
		for q := p; q < k; q++ {
			clear(dst[q*mr+rows : q*mr+mr])
		}
	}
}

// packFour packs values p <= q < k of four rows: each cache line of the panel is written once for all four.
func packFour(dst, src []float32, ld, p, k, mr int) {
	a, b, c, d := src[p:k], src[ld+p:ld+k], src[2*ld+p:2*ld+k], src[3*ld+p:3*ld+k]
	at := p * mr
	for q, v := range a {
		to := dst[at : at+4 : at+4]
		to[0], to[1], to[2], to[3] = v, b[q], c[q], d[q]
		at += mr
	}
}

// PackB packs k rows of whole panels of nr columns, row-major src having leading dimension ld:
// dst[j/nr*nr*k + p*nr + j%nr] = src[p*ld+j]. It reads whole rows, one after the other: if it packed panel by panel, successive
// reads would be in different pages.
func PackB(dst, src []float32, ld, k, panels, nr int) {
	if k == 0 || panels == 0 {
		return
	}
	if have.PackB != none && nr == have.Columns {
		_, _ = dst[panels*k*nr-1], src[(k-1)*ld+panels*nr-1]
		have.PackB.run(&dst[0], &src[0], ld, k, panels)
		return
	}
	for j := range panels {
		vec.CopyRows(dst[j*k*nr:], nr, src[j*nr:], ld, k, nr)
	}
}
