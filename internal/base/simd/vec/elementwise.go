package vec

import "math"

// Fill sets d[i] = v.
func Fill(d []float32, v float32) {
	if !run(opFill, d, nil, nil, v, 0) {
		for i := range d {
			d[i] = v
		}
	}
}

// Add sets d[i] = a[i] + b[i].
func Add(d, a, b []float32) {
	if !run(opAdd, d, a, b, 0, 0) {
		for i := range d {
			d[i] = a[i] + b[i]
		}
	}
}

// Sub sets d[i] = a[i] - b[i].
func Sub(d, a, b []float32) {
	if !run(opSub, d, a, b, 0, 0) {
		for i := range d {
			d[i] = a[i] - b[i]
		}
	}
}

// Mul sets d[i] = a[i] * b[i].
func Mul(d, a, b []float32) {
	if !run(opMul, d, a, b, 0, 0) {
		for i := range d {
			d[i] = a[i] * b[i]
		}
	}
}

// Div sets d[i] = a[i] / b[i].
func Div(d, a, b []float32) {
	if !run(opDiv, d, a, b, 0, 0) {
		for i := range d {
			d[i] = a[i] / b[i]
		}
	}
}

// AddScalar sets d[i] = a[i] + s.
func AddScalar(d, a []float32, s float32) {
	if !run(opAddScalar, d, a, nil, s, 0) {
		for i := range d {
			d[i] = a[i] + s
		}
	}
}

// Scale sets d[i] = a[i] * s.
func Scale(d, a []float32, s float32) {
	if !run(opScale, d, a, nil, s, 0) {
		for i := range d {
			d[i] = a[i] * s
		}
	}
}

// Axpy adds a*x[i] to d[i].
func Axpy(d, x []float32, a float32) {
	if !run(opAxpy, d, x, nil, a, 0) {
		for i := range d {
			d[i] += a * x[i]
		}
	}
}

// MulAdd adds a[i]*b[i] to d[i].
func MulAdd(d, a, b []float32) {
	if !run(opMulAdd, d, a, b, 0, 0) {
		for i := range d {
			d[i] += a[i] * b[i]
		}
	}
}

// Square sets d[i] = a[i]².
func Square(d, a []float32) {
	if !run(opSquare, d, a, nil, 0, 0) {
		for i := range d {
			d[i] = a[i] * a[i]
		}
	}
}

// Sqrt sets d[i] = √a[i].
func Sqrt(d, a []float32) {
	if !run(opSqrt, d, a, nil, 0, 0) {
		for i := range d {
			d[i] = float32(math.Sqrt(float64(a[i])))
		}
	}
}

// Max sets d[i] to the larger of a[i] and b[i], or NaN if one is NaN.
func Max(d, a, b []float32) {
	if !run(opMax, d, a, b, 0, 0) {
		for i := range d {
			d[i] = max(a[i], b[i])
		}
	}
}

// Min sets d[i] to the smaller of a[i] and b[i], or NaN if one is NaN.
func Min(d, a, b []float32) {
	if !run(opMin, d, a, b, 0, 0) {
		for i := range d {
			d[i] = min(a[i], b[i])
		}
	}
}

// Affine sets d[i] = x[i]*scale + shift.
func Affine(d, x []float32, scale, shift float32) {
	if !run(opAffine, d, x, nil, scale, shift) {
		for i := range d {
			d[i] = x[i]*scale + shift
		}
	}
}

// ReLU sets d[i] = max(x[i], 0) + slope*min(x[i], 0); NaN stays. Signs of zeros are those that C++ gives: max and min of x[i] and 0 are x[i] where
// neither is larger.
func ReLU(d, x []float32, slope float32) {
	op := opRelu
	if slope == 0 {
		op = opRectify
	}
	if !run(op, d, x, nil, slope, 0) {
		for i := range d {
			d[i] = leaky(x[i], slope)
		}
	}
}

// leaky is a value of ReLU.
func leaky(x, slope float32) float32 {
	above, below := x, x
	if x < 0 {
		above = 0
	}
	if x > 0 {
		below = 0
	}
	return above + float32(slope*below)
}

// ReLUGrad sets d[i] = dy[i], times slope where x[i] is not above 0.
func ReLUGrad(d, dy, x []float32, slope float32) {
	if !run(opReluGrad, d, dy, x, slope, 0) {
		for i := range d {
			v := dy[i]
			if !(x[i] > 0) {
				v *= slope
			}
			d[i] = v
		}
	}
}

// Abs sets d[i] = |x[i]|.
func Abs(d, x []float32) {
	if !run(opAbs, d, x, nil, 0, 0) {
		for i := range d {
			d[i] = float32(math.Abs(float64(x[i])))
		}
	}
}
