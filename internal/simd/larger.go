package simd

// LargerStep keeps in value[i] the larger of value[i] and x[i], of equals value[i], a NaN being larger than all but another; where
// that is x[i], code[i] becomes c.
func LargerStep(value []float32, code []int32, x []float32, c int32) {
	n := len(value)
	code, x = code[:n], x[:n]
	whole := active.whole(n)
	if whole > 0 {
		active.largerStep(&value[0], &code[0], &x[0], whole, c)
	}
	for i := whole; i < n; i++ {
		if larger(x[i], value[i]) {
			value[i], code[i] = x[i], c
		}
	}
}

// LargerMerge is LargerStep with the code from[i] + c.
func LargerMerge(value []float32, code []int32, x []float32, from []int32, c int32) {
	n := len(value)
	code, x, from = code[:n], x[:n], from[:n]
	whole := active.whole(n)
	if whole > 0 {
		active.largerMerge(&value[0], &code[0], &x[0], &from[0], whole, c)
	}
	for i := whole; i < n; i++ {
		if larger(x[i], value[i]) {
			value[i], code[i] = x[i], from[i]+c
		}
	}
}

func larger(x, than float32) bool { return x > than || x != x && than == than }
