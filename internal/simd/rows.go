package simd

import "slices"

// SumSquaresOfRows sets d[i] = scale*Σr x[r*ld+i]² + shift over so many rows of x, which are ld apart. d must not be among them.
func SumSquaresOfRows(d, x []float32, ld, rows int, scale, shift float32) {
	l, n := active, len(d)
	if l.width > 0 && n > 0 && rows > 0 {
		_ = x[(rows-1)*ld+n-1]
		l.sumSquares(&d[0], &x[0], ld, rows, n, scale, shift, &maskWords[16])
		return
	}
	for i := range d {
		var sum float32
		for r := range rows {
			sum += float32(x[r*ld+i] * x[r*ld+i])
		}
		d[i] = float32(sum*scale) + shift
	}
}

// MulAddRows adds scale*a[i]*Σr x[r*ld+i] to d[i], the sum being over so many rows of x, which are ld apart. d must not be among
// them.
func MulAddRows(d, a, x []float32, ld, rows int, scale float32) {
	l, n := active, len(d)
	a = a[:n]
	if l.width > 0 && n > 0 && rows > 0 {
		_ = x[(rows-1)*ld+n-1]
		l.mulAddRows(&d[0], &a[0], &x[0], ld, rows, n, scale, &maskWords[16])
		return
	}
	for i := range d {
		var sum float32
		for r := range rows {
			sum += x[r*ld+i]
		}
		d[i] += float32(a[i]*scale) * sum
	}
}

// SumShifted sets d[j] = Σp x[offs[p]+j], the sum being over the offs in their order. d must not be among them.
func SumShifted(d, x []float32, offs []int) {
	l, n := active, len(d)
	if l.width > 0 && n > 0 && len(offs) > 0 {
		_ = x[slices.Max(offs)+n-1]
		l.sumShifted(&d[0], &x[0], &offs[0], len(offs), n, &maskWords[16])
		return
	}
	clear(d)
	for _, at := range offs {
		Add(d, d, x[at:])
	}
}

// PowRatio sets own[i] = dy[i]*s[i]^p and, with y = x[i]*s[i]^p, ratio[i] = dy[i]*y/s[i] for s[i] >= 0 and as many elements as own has; own and ratio
// must not be sources. The power -0.75 has a kernel of its own.
func PowRatio(own, ratio, dy, x, s []float32, p float32) {
	l, n := active, len(own)
	ratio, dy, x, s = ratio[:n], dy[:n], x[:n], s[:n]
	if l.width > 0 && n > 0 && p == -0.75 {
		l.powRatio(&own[0], &ratio[0], &dy[0], &x[0], &s[0], n, &maskWords[16])
		return
	}
	MulPow(own, dy, s, p)
	MulPow(ratio, x, s, p)
	Mul(ratio, ratio, dy)
	Div(ratio, ratio, s)
}
