package simd

// Normal holds the constants of a row that is normalised, scaled, shifted and rectified:
//
//	xn = (x - Mean) * Scale,  v = xn * Gamma + Beta,  y = v, times Slope where v < 0.
//
// A, B and C are those of its gradient, see NormaliseGrad. The kernels read it as eight float32 values.
type Normal struct{ Mean, Scale, Gamma, Beta, Slope, A, B, C float32 }

// Moments returns Σ x[i] and Σ (x[i] - pivot)², summed in float64.
func Moments(x []float32, pivot float32) (sum, squares float64) {
	whole := active.whole(len(x))
	if whole > 0 {
		var lanes [16]float64
		active.moments(&lanes, &x[0], whole, &pivot)
		sum, squares = active.addUp(&lanes)
	}
	for _, v := range x[whole:] {
		d := float64(v - pivot)
		sum += float64(v)
		squares += d * d
	}
	return sum, squares
}

// Normalise sets y[i] as Normal says.
func Normalise(y, x []float32, p *Normal) {
	n := len(y)
	whole := active.whole(n)
	x = x[:n]
	if whole > 0 {
		active.normalise(&y[0], &x[0], whole, &p.Mean)
	}
	if active.width > 0 && whole < n {
		var tx [16]float32
		copy(tx[:], x[whole:])
		active.normalise(&tx[0], &tx[0], active.width, &p.Mean)
		copy(y[whole:], tx[:])
		return
	}
	for i, v := range x[whole:] {
		_, y[whole+i] = p.value(v)
		if y[whole+i] < 0 {
			y[whole+i] *= p.Slope
		}
	}
}

// value returns xn and v of Normal.
func (p *Normal) value(x float32) (xn, v float32) {
	xn = (x - p.Mean) * p.Scale
	return xn, xn*p.Gamma + p.Beta
}

// grad returns xn and g: dy, times Slope where v is not above 0.
func (p *Normal) grad(dy, x float32) (xn, g float32) {
	xn, v := p.value(x)
	if !(v > 0) {
		dy *= p.Slope
	}
	return xn, dy
}

// NormaliseSums returns Σ g[i]*xn[i] and Σ g[i], summed in float64, where g[i] is dy[i], times Slope where v is not above 0.
func NormaliseSums(dy, x []float32, p *Normal) (products, sums float64) {
	n := len(dy)
	x = x[:n]
	if active.width == 0 {
		for i, d := range dy {
			xn, g := p.grad(d, x[i])
			products += float64(g) * float64(xn)
			sums += float64(g)
		}
		return products, sums
	}
	var lanes [16]float64
	whole := active.whole(n)
	if whole > 0 {
		active.normaliseSums(&lanes, &dy[0], &x[0], whole, &p.Mean)
		products, sums = active.addUp(&lanes)
	}
	if whole < n {
		var td, tx [16]float32
		copy(td[:], dy[whole:])
		copy(tx[:], x[whole:])
		active.normaliseSums(&lanes, &td[0], &tx[0], active.width, &p.Mean)
		a, b := active.addUp(&lanes)
		products, sums = products+a, sums+b
	}
	return products, sums
}

// NormaliseGrad sets dx[i] = A*g[i] + B + C*xn[i] with g as in NormaliseSums; dx may be dy.
func NormaliseGrad(dx, dy, x []float32, p *Normal) {
	n := len(dx)
	dy, x = dy[:n], x[:n]
	whole := active.whole(n)
	if whole > 0 {
		active.normaliseGrad(&dx[0], &dy[0], &x[0], whole, &p.Mean)
	}
	if active.width > 0 && whole < n {
		var td, tx [16]float32
		copy(td[:], dy[whole:])
		copy(tx[:], x[whole:])
		active.normaliseGrad(&td[0], &td[0], &tx[0], active.width, &p.Mean)
		copy(dx[whole:], td[:])
		return
	}
	for i := whole; i < n; i++ {
		xn, g := p.grad(dy[i], x[i])
		dx[i] = (p.A*g + p.B) + p.C*xn
	}
}

// whole is the part of n values that are whole vectors.
func (l *level) whole(n int) int {
	if l.width == 0 {
		return 0
	}
	return n / l.width * l.width
}

// addUp adds the float64 lanes of two sums, which stand one behind the other.
func (l *level) addUp(lanes *[16]float64) (a, b float64) {
	n := l.width / 2
	for i := range n {
		a += lanes[i]
		b += lanes[n+i]
	}
	return a, b
}
