package vec

// SigmoidGrad sets d[i] = dy[i] * y[i] * (1 - y[i]).
func SigmoidGrad(d, dy, y []float32) {
	if !run(opSigmoidGrad, d, dy, y, 0, 0) {
		for i := range d {
			d[i] = dy[i] * y[i] * (1 - y[i])
		}
	}
}

// TanhGrad sets d[i] = dy[i] * (1 - y[i]²).
func TanhGrad(d, dy, y []float32) {
	if !run(opTanhGrad, d, dy, y, 0, 0) {
		for i := range d {
			d[i] = dy[i] * (1 - y[i]*y[i])
		}
	}
}

// PReLU sets d[i] = max(x[i], 0) + a[i]*min(x[i], 0), as ReLU does.
func PReLU(d, x, a []float32) {
	if !run(opPrelu, d, x, a, 0, 0) {
		for i := range d {
			d[i] = leaky(x[i], a[i])
		}
	}
}

// PReLUGrad sets d[i] = dy[i], times a[i] where x[i] is not above 0.
func PReLUGrad(d, dy, x, a []float32) {
	const block = 512
	var buffer [block]float32
	for at := 0; at < len(d); at += block {
		own := append(buffer[:0], a[at:min(at+block, len(d))]...) // d may be dy
		if !run(opPreluGrad, own, dy[at:], x[at:], 0, 0) {
			for i := range own {
				slope := own[i]
				if own[i] = dy[at+i]; !(x[at+i] > 0) {
					own[i] *= slope
				}
			}
		}
		copy(d[at:], own)
	}
}

// ELUSlope sets d[i] = y[i] + alpha where x[i] <= 0, to 1 + 0*(y[i] + alpha) elsewhere.
func ELUSlope(d, x, y []float32, alpha float32) {
	if !run(opEluSlope, d, x, y, alpha, 0) {
		for i := range d {
			slope := y[i] + alpha
			if !(x[i] <= 0) {
				slope = 1 + float32(0*slope)
			}
			d[i] = slope
		}
	}
}
