package simd

// PackA packs rows x k values of row-major src, of leading dimension ld, into a
// panel of mr rows: dst[p*mr+i] = src[i*ld+p], zero for i >= rows.
func PackA(dst, src []float32, ld, rows, k, mr int) {
	if mr == active.nr {
		if rows < mr {
			clear(dst[:k*mr])
		}
		Transpose(dst, src, mr, ld, rows, k)
		return
	}
	if l := active; l.width == 16 && mr == l.mr && rows > 0 && k > 0 {
		_, _ = dst[k*mr-1], src[(rows-1)*ld+k-1]
		l.panelLines(&dst[0], &src[0], ld, rows, k)
		return
	}
	p := 0
	if l := active; l.width > 0 && rows == mr && mr == l.rows && k >= 4 {
		p = k &^ 3
		_, _ = dst[k*mr-1], src[(mr-1)*ld+k-1]
		l.panelA(&dst[0], &src[0], ld, p)
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

// packFour packs values p <= q < k of four rows, so that each line of the panel is touched once for all four.
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
// dst[j/nr*nr*k + p*nr + j%nr] = src[p*ld+j]. Rows are read whole, one after the other: panel by panel every piece of a row
// would be in another page.
func PackB(dst, src []float32, ld, k, panels, nr int) {
	if k == 0 || panels == 0 {
		return
	}
	if l := active; l.width > 0 && nr == l.nr {
		_, _ = dst[panels*k*nr-1], src[(k-1)*ld+panels*nr-1]
		l.panelB(&dst[0], &src[0], ld, k, panels)
		return
	}
	for j := range panels {
		CopyRows(dst[j*k*nr:], nr, src[j*nr:], ld, k, nr)
	}
}

// CopyRows copies rows of n values from src, lds values apart, to dst, ldd apart.
func CopyRows(dst []float32, ldd int, src []float32, lds, rows, n int) {
	if rows == 0 || n == 0 {
		return
	}
	_, _ = dst[(rows-1)*ldd+n-1], src[(rows-1)*lds+n-1]
	if n == 4 {
		copyFours(dst, ldd, src, lds, rows)
		return
	}
	if l := active; l.width > 0 {
		l.copyRows(&dst[0], &src[0], ldd, lds, rows, n, &maskWords[16-((n-1)%l.width+1)])
		return
	}
	for i := range rows {
		copy(dst[i*ldd:][:n], src[i*lds:])
	}
}

// GatherRows copies rows of n values, two vectors at most, from src[offs[i]:] to dst, ldd values apart.
func GatherRows(dst []float32, ldd int, src []float32, offs []int, n int) {
	if len(offs) == 0 || n == 0 {
		return
	}
	_ = dst[(len(offs)-1)*ldd+n-1]
	if l := active; l.width > 0 {
		l.gatherRows(&dst[0], &src[0], ldd, &offs[0], len(offs), n, &maskWords[16-((n-1)%l.width+1)])
		return
	}
	for i, at := range offs {
		copy(dst[i*ldd:][:n], src[at:])
	}
}

// copyFours copies rows of 4 values: a vector of as many takes less than a masked one.
func copyFours(dst []float32, ldd int, src []float32, lds, rows int) {
	for ; rows > 1; rows-- {
		*(*[4]float32)(dst) = *(*[4]float32)(src)
		dst, src = dst[ldd:], src[lds:]
	}
	*(*[4]float32)(dst) = *(*[4]float32)(src)
}
