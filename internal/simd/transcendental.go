package simd

import "math"

// Exp sets d[i] = e^x[i].
func Exp(d, x []float32) {
	if active.run(opExp, d, x, nil, 0, 0) {
		return
	}
	for i := range d {
		d[i] = float32(math.Exp(float64(x[i])))
	}
}

// Log sets d[i] = ln x[i].
func Log(d, x []float32) {
	if active.run(opLog, d, x, nil, 0, 0) {
		return
	}
	for i := range d {
		d[i] = float32(math.Log(float64(x[i])))
	}
}

// Sigmoid sets d[i] = 1/(1 + e^-x[i]).
func Sigmoid(d, x []float32) {
	if active.run(opSigmoid, d, x, nil, 0, 0) {
		return
	}
	for i := range d {
		d[i] = float32(1 / (1 + math.Exp(-float64(x[i]))))
	}
}

// Tanh sets d[i] = tanh x[i].
func Tanh(d, x []float32) {
	if active.run(opTanh, d, x, nil, 0, 0) {
		return
	}
	for i := range d {
		d[i] = float32(math.Tanh(float64(x[i])))
	}
}

// Pow sets d[i] = x[i]^p; d may be x. Multiples of a quarter up to one, and 1.5, come from square
// roots, 2 from a product; any other power takes math.Pow per element.
func Pow(d, x []float32, p float32) {
	switch {
	case active.width == 0:
	case p == 1:
		copy(d, x)
		return
	case p == 2:
		Square(d, x)
		return
	case p == 1.5 || p == 0.25 || p == -0.25 || p == 0.75 || p == -0.75 || p == 0.5 || p == -0.5 || p == -1:
		powRoot(d, x, p)
		return
	}
	powGo(d, x, p)
}

// MulPow sets d[i] = x[i] * y[i]^p for y[i] >= 0; d must not be x. The power -0.75, that of local response normalisation, has a
// kernel of its own.
func MulPow(d, x, y []float32, p float32) {
	if p == -0.75 && active.run(opMulInvPow75, d, x, y, 0, 0) {
		return
	}
	const block = 512
	for at := 0; at < len(d); at += block {
		to := d[at:min(at+block, len(d))]
		Pow(to, y[at:], p)
		Mul(to, to, x[at:])
	}
}

// powGo is Pow by math.Pow.
func powGo(d, x []float32, p float32) {
	for i := range d {
		d[i] = float32(math.Pow(float64(x[i]), float64(p)))
	}
}

// powRoot is Pow for quarters and for 1.5. What is not positive and finite, where roots
// and powers differ, takes math.Pow: the vector result is kept for blocks
// without such a value.
func powRoot(d, x []float32, p float32) {
	const block = 512
	var buffer [block]float32
	x = x[:len(d)]
	for len(d) > 0 {
		n := min(block, len(d))
		if special(x[:n]) {
			powGo(d[:n], x[:n], p)
		} else {
			to, from := d[:n], x[:n]
			switch p {
			case 1.5:
				own := append(buffer[:0], from...) // d may be x
				Sqrt(to, from)
				Mul(to, to, own)
			case 0.25, -0.25:
				active.run(opPow25, to, from, nil, 0, 0)
			case 0.75, -0.75:
				active.run(opPow75, to, from, nil, 0, 0)
			case 0.5, -0.5:
				Sqrt(to, from)
			default:
				active.run(opInverse, to, from, nil, 0, 0)
			}
			if p < 0 && p != -1 {
				active.run(opInverse, to, to, nil, 0, 0)
			}
		}
		d, x = d[n:], x[n:]
	}
}

// special tells whether a value is not a positive normal number.
func special(x []float32) bool {
	for _, v := range x {
		if math.Float32bits(v)-0x00800000 >= 0x7f000000 {
			return true
		}
	}
	return false
}
