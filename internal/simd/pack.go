package simd

// PackA packs rows x k values of row-major src, of leading dimension ld, into a
// panel of mr rows: dst[p*mr+i] = src[i*ld+p], zero for i >= rows.
func PackA(dst, src []float32, ld, rows, k, mr int) {
	p := 0
	if l := active; l.width > 0 && rows == mr && (mr == l.mr || mr == l.rows) && k >= 4 {
		p = k &^ 3
		_, _ = dst[k*mr-1], src[(mr-1)*ld+k-1]
		l.panelA(&dst[0], &src[0], ld, p, mr)
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

// PackB packs k x cols values of row-major src, of leading dimension ld, into a
// panel of nr columns: dst[p*nr+j] = src[p*ld+j], zero for j >= cols.
func PackB(dst, src []float32, ld, k, cols, nr int) {
	if l := active; l.width > 0 && cols == nr && nr == l.nr && k > 0 {
		_, _ = dst[k*nr-1], src[(k-1)*ld+nr-1]
		l.panelB(&dst[0], &src[0], ld, k)
		return
	}
	for p := range k {
		d := dst[p*nr : p*nr+nr]
		copy(d, src[p*ld:p*ld+cols])
		clear(d[cols:])
	}
}
