package simd

import "math"

func Name() string { return "go" }
func Micro() (mr, nr int) { return 4, 8 }
func MicroKernel(k int, a, b, c []float32, ldc int, accumulate bool) {
	MicroKernelEdge(k, a, b, c, ldc, 4, 8, accumulate)
}
func MicroKernelEdge(k int, a, b, c []float32, ldc, m, n int, accumulate bool) {
	var t [32]float32
	for p := 0; p < k; p++ {
		for i := 0; i < 4; i++ {
			for j := 0; j < 8; j++ {
				t[i*8+j] += a[p*4+i] * b[p*8+j]
			}
		}
	}
	for i := 0; i < m; i++ {
		for j := 0; j < n; j++ {
			if accumulate {
				c[i*ldc+j] += t[i*8+j]
			} else {
				c[i*ldc+j] = t[i*8+j]
			}
		}
	}
}
func PackA(dst, src []float32, ld, rows, k, mr int) {
	for p := 0; p < k; p++ {
		for i := 0; i < mr; i++ {
			if i < rows {
				dst[p*mr+i] = src[i*ld+p]
			} else {
				dst[p*mr+i] = 0
			}
		}
	}
}
func PackB(dst, src []float32, ld, k, cols, nr int) {
	for p := 0; p < k; p++ {
		d := dst[p*nr : p*nr+nr]
		copy(d, src[p*ld:p*ld+cols])
		clear(d[cols:])
	}
}
func Fill(d []float32, v float32) {
	for i := range d {
		d[i] = v
	}
}
func Add(d, a, b []float32) {
	for i := range d {
		d[i] = a[i] + b[i]
	}
}
func Sub(d, a, b []float32) {
	for i := range d {
		d[i] = a[i] - b[i]
	}
}
func Mul(d, a, b []float32) {
	for i := range d {
		d[i] = a[i] * b[i]
	}
}
func Div(d, a, b []float32) {
	for i := range d {
		d[i] = a[i] / b[i]
	}
}
func AddScalar(d, a []float32, s float32) {
	for i := range d {
		d[i] = a[i] + s
	}
}
func Scale(d, a []float32, s float32) {
	for i := range d {
		d[i] = a[i] * s
	}
}
func Axpy(d, x []float32, a float32) {
	for i := range d {
		d[i] += a * x[i]
	}
}
func Axpby(d, x []float32, a, b float32) {
	for i := range d {
		d[i] = a*x[i] + b*d[i]
	}
}
func MulAdd(d, a, b []float32) {
	for i := range d {
		d[i] += a[i] * b[i]
	}
}
func Square(d, a []float32) {
	for i := range d {
		d[i] = a[i] * a[i]
	}
}
func Sqrt(d, a []float32) {
	for i := range d {
		d[i] = float32(math.Sqrt(float64(a[i])))
	}
}
func AbsSum(x []float32) float64 {
	var s float64
	for _, v := range x {
		s += math.Abs(float64(v))
	}
	return s
}
func SumSq(x []float32) float64 {
	var s float64
	for _, v := range x {
		s += float64(v) * float64(v)
	}
	return s
}

func Max(d, a, b []float32) {
	for i := range d {
		d[i] = max(a[i], b[i])
	}
}
func Min(d, a, b []float32) {
	for i := range d {
		d[i] = min(a[i], b[i])
	}
}
func Affine(d, x []float32, scale, shift float32) {
	for i := range d {
		d[i] = x[i]*scale + shift
	}
}
func ReLU(d, x []float32, slope float32) {
	for i := range d {
		v := x[i]
		if v < 0 {
			v *= slope
		}
		d[i] = v
	}
}
func ReLUGrad(d, dy, x []float32, slope float32) {
	for i := range d {
		v := dy[i]
		if !(x[i] > 0) {
			v *= slope
		}
		d[i] = v
	}
}
func Abs(d, x []float32) {
	for i := range d {
		d[i] = float32(math.Abs(float64(x[i])))
	}
}
func Exp(d, x []float32) {
	for i := range d {
		d[i] = float32(math.Exp(float64(x[i])))
	}
}
func Log(d, x []float32) {
	for i := range d {
		d[i] = float32(math.Log(float64(x[i])))
	}
}
func Sigmoid(d, x []float32) {
	for i := range d {
		d[i] = float32(1 / (1 + math.Exp(-float64(x[i]))))
	}
}
func Tanh(d, x []float32) {
	for i := range d {
		d[i] = float32(math.Tanh(float64(x[i])))
	}
}
func Pow(d, x []float32, p float32) {
	for i := range d {
		d[i] = float32(math.Pow(float64(x[i]), float64(p)))
	}
}
func Sum(x []float32) float64 {
	var s float64
	for _, v := range x {
		s += float64(v)
	}
	return s
}
func Dot(x, y []float32) float64 {
	var s float64
	for i, v := range x {
		s += float64(v) * float64(y[i])
	}
	return s
}
func SqDiff(x []float32, mean float32) float64 {
	var s float64
	for _, v := range x {
		d := float64(v - mean)
		s += d * d
	}
	return s
}
func MaxOf(x []float32) float32 {
	m := x[0]
	for _, v := range x {
		m = max(m, v)
	}
	return m
}
