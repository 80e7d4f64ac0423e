package simd

import "math"

// Column is a window of rows of values, Rows of them, each Ld behind the one before.
type Column struct {
	Values   []float32
	Rows, Ld int
}

// first is the address of the window's first value, after a look that n columns lie inside.
func (c *Column) first(n int) *float32 {
	_ = c.Values[(c.Rows-1)*c.Ld+n-1]
	return &c.Values[0]
}

// sum adds up column i, squared or not.
func (c *Column) sum(i int, squared bool) (sum float32) {
	for r := range c.Rows {
		v := c.Values[r*c.Ld+i]
		if squared {
			v *= v
		}
		sum += v
	}
	return sum
}

// invPow75 is s^-3/4.
func invPow75(s float32) float32 {
	h := float32(math.Sqrt(float64(s)))
	return 1 / (h * float32(math.Sqrt(float64(h))))
}

// LRN sets y[i] = x[i] * s[i]^-3/4, s[i] = k + a * (sum of the squares of column i).
func LRN(y, x []float32, window Column, a, k float32) {
	n := len(y)
	x = x[:n]
	whole := active.whole(n)
	if whole > 0 {
		active.lrn(&y[0], &x[0], window.first(n), window.Rows, window.Ld, whole, &[2]float32{a, k})
	}
	for i := whole; i < n; i++ {
		y[i] = x[i] * invPow75(k+a*window.sum(i, true))
	}
}

// LRNRatio sets q[i] = dy[i] * s[i]^-3/4 and r[i] = q[i] * x[i] / s[i], s as in LRN.
func LRNRatio(q, r, dy, x []float32, window Column, a, k float32) {
	n := len(q)
	r, dy, x = r[:n], dy[:n], x[:n]
	whole := active.whole(n)
	if whole > 0 {
		active.lrnRatio(&q[0], &r[0], &dy[0], &x[0], window.first(n), window.Rows, window.Ld, whole, &[2]float32{a, k})
	}
	for i := whole; i < n; i++ {
		s := k + a*window.sum(i, true)
		q[i] = dy[i] * invPow75(s)
		r[i] = q[i] * x[i] / s
	}
}

// LRNGrad adds c * x[i] * (sum of column i) to dx[i].
func LRNGrad(dx, x []float32, window Column, c float32) {
	n := len(dx)
	x = x[:n]
	whole := active.whole(n)
	if whole > 0 {
		active.lrnGrad(&dx[0], &x[0], window.first(n), window.Rows, window.Ld, whole, &c)
	}
	for i := whole; i < n; i++ {
		dx[i] += c * (x[i] * window.sum(i, false))
	}
}
