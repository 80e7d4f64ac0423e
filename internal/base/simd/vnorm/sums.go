package vnorm

import (
	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// SumSquaresOfRows sets d[i] = scale*Σr x[r*ld+i]² + shift over rows of x, which are ld apart. d must not overlap x.
func SumSquaresOfRows(d, x []float32, ld, rows int, scale, shift float32) {
	n := len(d)
	if have.SumSquares != none && n > 0 && rows > 0 {
		_ = x[(rows-1)*ld+n-1]
		have.SumSquares.run(&d[0], &x[0], ld, rows, n, scale, shift, isa.Mask(0))
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

// MulAddRows adds scale*a[i]*Σr x[r*ld+i] to d[i], over rows of x, which are ld apart. d must not overlap x.
func MulAddRows(d, a, x []float32, ld, rows int, scale float32) {
	n := len(d)
	a = a[:n]
	if have.MulAddRows != none && n > 0 && rows > 0 {
		_ = x[(rows-1)*ld+n-1]
		have.MulAddRows.run(&d[0], &a[0], &x[0], ld, rows, n, scale, isa.Mask(0))
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

// PowRatio sets own[i] = dy[i]*s[i]^p and ratio[i] = dy[i]*x[i]*s[i]^p / s[i] for all elements of own and s[i] >= 0; own and ratio must not be
// sources. The power -0.75 has a kernel of its own.
func PowRatio(own, ratio, dy, x, s []float32, p float32) {
	n := len(own)
	ratio, dy, x, s = ratio[:n], dy[:n], x[:n], s[:n]
	if have.PowRatio != none && n > 0 && p == -0.75 {
		have.PowRatio.run(&own[0], &ratio[0], &dy[0], &x[0], &s[0], n, isa.Mask(0))
		return
	}
	vec.Pow(ratio, s, p)
	vec.Mul(own, ratio, dy)
	vec.Mul(ratio, ratio, x)
	vec.Mul(ratio, ratio, dy)
	vec.Div(ratio, ratio, s)
}
