package vec

import "math"

// Exp sets d[i] = e^x[i].
func Exp(d, x []float32) {
	if !run(opExp, d, x, nil, 0, 0) {
		for i := range d {
			d[i] = float32(math.Exp(float64(x[i])))
		}
	}
}

// Log sets d[i] = ln x[i].
func Log(d, x []float32) {
	if !run(opLog, d, x, nil, 0, 0) {
		for i := range d {
			d[i] = float32(math.Log(float64(x[i])))
		}
	}
}

// Sigmoid sets d[i] = 1/(1 + e^-x[i]).
func Sigmoid(d, x []float32) {
	if !run(opSigmoid, d, x, nil, 0, 0) {
		for i := range d {
			d[i] = float32(1 / (1 + math.Exp(-float64(x[i]))))
		}
	}
}

// Tanh sets d[i] = tanh x[i].
func Tanh(d, x []float32) {
	if !run(opTanh, d, x, nil, 0, 0) {
		for i := range d {
			d[i] = float32(math.Tanh(float64(x[i])))
		}
	}
}

// Pow sets d[i] = x[i]^p; d may be x. Powers of ±1/4, ±1/2, ±3/4 and 1.5 come from square roots; 0, 1, 2 and -1 are direct; all others come from a
// kernel in float64.
func Pow(d, x []float32, p float32) {
	const block = 512
	var buffer [block]float32
	x = x[:len(d)]
	for len(d) > 0 {
		n := min(block, len(d))
		own := append(buffer[:0], x[:n]...) // d may be x
		switch {
		case !powers():
			powGo(d[:n], own, p)
		case p == 0:
			Fill(d[:n], 1)
		case p == 1:
			copy(d, own)
		case p == 2:
			Square(d[:n], own)
		case p == -1:
			run(opInverse, d[:n], own, nil, 0, 0)
		case math.Trunc(float64(p)) == float64(p):
			Abs(d[:n], own)
			run(opPow, d[:n], d[:n], nil, p, 0)
			if math.Mod(float64(p), 2) != 0 {
				MulSign(d[:n], d[:n], own)
			}
			powRest(d[:n], own, p, 1<<31)
		default:
			powPositive(d[:n], own, p)
			powRest(d[:n], own, p, 0)
		}
		d, x = d[n:], x[n:]
	}
}

// MulPow sets d[i] = x[i] * y[i]^p for y[i] >= 0; d must not be x. The power -0.75 of local response normalisation has a kernel of its own.
func MulPow(d, x, y []float32, p float32) {
	if p == -0.75 && run(opMulInvPow75, d, x, y, 0, 0) {
		return
	}
	const block = 512
	for at := 0; at < len(d); at += block {
		to := d[at:min(at+block, len(d))]
		Pow(to, y[at:], p)
		Mul(to, to, x[at:])
	}
}

// powers reports whether all kernels are there that Pow takes.
func powers() bool {
	return have.Elementwise[opPow] != none && have.Elementwise[opPow25] != none && have.Elementwise[opPow75] != none && have.Elementwise[opInverse] != none
}

// powGo is Pow in plain Go. Local response normalisation takes powers of ±3/4, which two square roots give much sooner than math.Pow.
func powGo(d, x []float32, p float32) {
	roots := p == 0.75 || p == -0.75
	for i, v := range x[:len(d)] {
		if !roots || !(v >= 0) {
			d[i] = float32(math.Pow(float64(v), float64(p)))
			continue
		}
		root := math.Sqrt(float64(v))
		power := root * math.Sqrt(root)
		if p < 0 {
			power = 1 / power
		}
		d[i] = float32(power)
	}
}

// powPositive is Pow for positive normal x.
func powPositive(d, x []float32, p float32) {
	switch p {
	case 1.5:
		Sqrt(d, x)
		Mul(d, d, x)
	case 0.25, -0.25:
		run(opPow25, d, x, nil, 0, 0)
	case 0.75, -0.75:
		run(opPow75, d, x, nil, 0, 0)
	case 0.5, -0.5:
		Sqrt(d, x)
	default:
		run(opPow, d, x, nil, p, 0)
		return
	}
	if p < 0 {
		run(opInverse, d, d, nil, 0, 0)
	}
}

// powRest is Pow for all other x: negative ones, unless ignored has the sign bit, zeros, subnormal numbers, infinities and NaN. Zeros, which are
// frequent behind a ReLU, share one call of math.Pow.
func powRest(d, x []float32, p float32, ignored uint32) {
	zero := float32(math.Pow(0, float64(p)))
	for i, v := range x {
		switch bits := math.Float32bits(v); {
		case bits&^ignored-0x00800000 < 0x7f000000:
		case bits == 0:
			d[i] = zero
		default:
			d[i] = float32(math.Pow(float64(v), float64(p)))
		}
	}
}
