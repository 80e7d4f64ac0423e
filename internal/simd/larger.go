package simd

// Larger keeps in value[i] the larger of value[i] and x[i], of equals value[i], a NaN being larger than all but another; where
// that is x[i], code[i] becomes from[i]. x and from may be value and code from a later place on.
func Larger(value []float32, code []int32, x []float32, from []int32) {
	n := len(value)
	code, x, from = code[:n], x[:n], from[:n]
	whole := active.whole(n)
	if whole > 0 {
		active.larger(&value[0], &code[0], &x[0], &from[0], whole)
	}
	for i := whole; i < n; i++ {
		if v, w := x[i], value[i]; v > w || v != v && w == w {
			value[i], code[i] = v, from[i]
		}
	}
}

// Evens sets dst[i] = src[2*i]; dst may be src.
func Evens(dst, src []float32) {
	n := len(dst)
	whole := 0
	if n > 0 {
		src = src[:2*n-1]
		whole = active.whole(n - 1) // whole vectors read the value behind their last
	}
	if whole > 0 {
		active.evens(&dst[0], &src[0], whole)
	}
	for i := whole; i < n; i++ {
		dst[i] = src[2*i]
	}
}
