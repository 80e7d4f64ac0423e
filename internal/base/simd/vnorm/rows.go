package vnorm

import "github.com/swcaffe/swcaffe/internal/base/simd/isa"

// Row holds the constants of a row of values that is normalised, scaled, shifted and rectified:
//
//	xn = (x - Mean) * Scale,  v = xn * Gamma + Beta,  y = v, times Slope where v < 0.
//
// NormaliseGrad uses A, B and C. The kernels read a Row as eight float32 values.
type Row struct{ Mean, Scale, Gamma, Beta, Slope, A, B, C float32 }

// Moments returns Σ x[i] and Σ (x[i] - pivot)², summed in float64.
func Moments(x []float32, pivot float32) (sum, squares float64) {
	whole := 0
	if have.Moments != none && len(x) >= isa.Lanes() {
		var lanes [16]float64
		whole = isa.Whole(len(x))
		have.Moments.run(&lanes[0], &x[0], whole, &pivot)
		sum, squares = addUp(&lanes)
	}
	for _, v := range x[whole:] {
		d := float64(v - pivot)
		sum += float64(v)
		squares += d * d
	}
	return sum, squares
}

// Normalise sets y[i] to the y of Row for x[i].
func Normalise(y, x []float32, p *Row) {
	n := len(y)
	x = x[:n]
	if have.Normalise == none {
		for i, v := range x {
			if _, y[i] = p.value(v); y[i] < 0 {
				y[i] *= p.Slope
			}
		}
		return
	}
	whole := isa.Whole(n)
	if whole > 0 {
		have.Normalise.run(&y[0], &x[0], whole, &p.Mean)
	}
	if whole < n {
		var tx [16]float32
		copy(tx[:], x[whole:])
		have.Normalise.run(&tx[0], &tx[0], isa.Lanes(), &p.Mean)
		copy(y[whole:], tx[:])
	}
}

// value returns xn and v of Row.
func (p *Row) value(x float32) (xn, v float32) {
	xn = (x - p.Mean) * p.Scale
	return xn, xn*p.Gamma + p.Beta
}

// grad returns xn and g: dy, times Slope where v is not above 0.
func (p *Row) grad(dy, x float32) (xn, g float32) {
	xn, v := p.value(x)
	if !(v > 0) {
		dy *= p.Slope
	}
	return xn, dy
}

// NormaliseSums returns Σ g[i]*xn[i] and Σ g[i], summed in float64, where g[i] is dy[i], times Slope where v is not above 0.
func NormaliseSums(dy, x []float32, p *Row) (products, sums float64) {
	n := len(dy)
	x = x[:n]
	if have.NormaliseSums == none {
		for i, d := range dy {
			xn, g := p.grad(d, x[i])
			products += float64(g) * float64(xn)
			sums += float64(g)
		}
		return products, sums
	}
	var lanes [16]float64
	whole := isa.Whole(n)
	if whole > 0 {
		have.NormaliseSums.run(&lanes[0], &dy[0], &x[0], whole, &p.Mean)
		products, sums = addUp(&lanes)
	}
	if whole < n {
		var td, tx [16]float32
		copy(td[:], dy[whole:])
		copy(tx[:], x[whole:])
		have.NormaliseSums.run(&lanes[0], &td[0], &tx[0], isa.Lanes(), &p.Mean)
		a, b := addUp(&lanes)
		products, sums = products+a, sums+b
	}
	return products, sums
}

// NormaliseGrad sets dx[i] = A*g[i] + B + C*xn[i] with g as in NormaliseSums; dx may be dy.
func NormaliseGrad(dx, dy, x []float32, p *Row) {
	n := len(dx)
	dy, x = dy[:n], x[:n]
	if have.NormaliseGrad == none {
		for i, d := range dy {
			xn, g := p.grad(d, x[i])
			dx[i] = (p.A*g + p.B) + p.C*xn
		}
		return
	}
	whole := isa.Whole(n)
	if whole > 0 {
		have.NormaliseGrad.run(&dx[0], &dy[0], &x[0], whole, &p.Mean)
	}
	if whole < n {
		var td, tx [16]float32
		copy(td[:], dy[whole:])
		copy(tx[:], x[whole:])
		have.NormaliseGrad.run(&td[0], &td[0], &tx[0], isa.Lanes(), &p.Mean)
		copy(dx[whole:], td[:])
	}
}

// addUp adds up the float64 lanes of two sums. Each has half a vector's lanes; those of the second follow the first's.
func addUp(lanes *[16]float64) (a, b float64) {
	n := isa.Lanes() / 2
	for i := range n {
		a += lanes[i]
		b += lanes[n+i]
	}
	return a, b
}
