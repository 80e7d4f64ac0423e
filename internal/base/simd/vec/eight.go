package vec

// Eight are eight sums. They stay in registers while AddProducts or AddProductsAt adds to them.
type Eight [8]float32

// AddProducts adds x[p*stepX]*y[p*stepY+j] to sum j, for p from 0 to n-1 in this order. It is plain Go on every level: the inner loop of matrix
// kernels on computers without vectors.
func (e *Eight) AddProducts(n int, x []float32, stepX int, y []float32, stepY int) {
	a, b, c, d, f, g, h, i := e[0], e[1], e[2], e[3], e[4], e[5], e[6], e[7]
	atX, atY := 0, 0
	for range n {
		v, w := x[atX], (*Eight)(y[atY:])
		a += v * w[0]
		b += v * w[1]
		c += v * w[2]
		d += v * w[3]
		f += v * w[4]
		g += v * w[5]
		h += v * w[6]
		i += v * w[7]
		atX += stepX
		atY += stepY
	}
	*e = Eight{a, b, c, d, f, g, h, i}
}

// AddProductsAt is AddProducts where factor p of x is x[at[p]].
func (e *Eight) AddProductsAt(at []int, x, y []float32, stepY int) {
	a, b, c, d, f, g, h, i := e[0], e[1], e[2], e[3], e[4], e[5], e[6], e[7]
	atY := 0
	for _, atX := range at {
		v, w := x[atX], (*Eight)(y[atY:])
		a += v * w[0]
		b += v * w[1]
		c += v * w[2]
		d += v * w[3]
		f += v * w[4]
		g += v * w[5]
		h += v * w[6]
		i += v * w[7]
		atY += stepY
	}
	*e = Eight{a, b, c, d, f, g, h, i}
}
