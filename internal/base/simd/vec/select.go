package vec

// MulSign sets d[i] to x[i] times the sign of y[i], which is 0 for 0 and NaN.
func MulSign(d, x, y []float32) {
	if !run(opMulSign, d, x, y, 0, 0) {
		for i := range d {
			switch v := x[i]; {
			case y[i] > 0:
				d[i] = v
			case y[i] < 0:
				d[i] = -v
			default:
				d[i] = v * 0
			}
		}
	}
}

// Clamp sets d[i] to max(lo, min(x[i], hi)); NaN becomes lo. Of zeros of both signs x[i] is taken before hi, and lo before both, as in C++.
func Clamp(d, x []float32, lo, hi float32) {
	if !run(opClamp, d, x, nil, lo, hi) {
		for i := range d {
			v := x[i]
			if v > hi {
				v = hi
			}
			if !(v > lo) {
				v = lo
			}
			d[i] = v
		}
	}
}

// ClampGrad sets d[i] = dy[i], times 0 where x[i] is not in [lo, hi].
func ClampGrad(d, dy, x []float32, lo, hi float32) {
	if !run(opClampGrad, d, dy, x, lo, hi) {
		for i := range d {
			v := dy[i]
			if !(x[i] >= lo && x[i] <= hi) {
				v *= 0
			}
			d[i] = v
		}
	}
}

// Above sets d[i] to 1 where x[i] > limit, to 0 elsewhere.
func Above(d, x []float32, limit float32) {
	if !run(opAbove, d, x, nil, limit, 0) {
		for i := range d {
			var v float32
			if x[i] > limit {
				v = 1
			}
			d[i] = v
		}
	}
}

// Take sets d[i] to v where x[i] > y[i].
func Take(d, x, y []float32, v float32) {
	if !run(opTake, d, x, y, v, 0) {
		for i := range d {
			if x[i] > y[i] {
				d[i] = v
			}
		}
	}
}

// Larger sets d[i] to x[i] where x[i] > y[i], to y[i] elsewhere, also where one is NaN.
func Larger(d, x, y []float32) {
	if !run(opLarger, d, x, y, 0, 0) {
		for i := range d {
			v := y[i]
			if x[i] > v {
				v = x[i]
			}
			d[i] = v
		}
	}
}

// Where sets d[i] to x[i] where y[i] == v, to 0 elsewhere.
func Where(d, x, y []float32, v float32) {
	if !run(opWhere, d, x, y, v, 0) {
		for i := range d {
			var w float32
			if y[i] == v {
				w = x[i]
			}
			d[i] = w
		}
	}
}
