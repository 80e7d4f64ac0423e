// Package pages allocates long arrays of values on large pages of memory.
package pages

// least is how many values an array has for which the operating system is asked for large pages: several of 2 MB.
const least = 2 << 20

// Floats returns n zeros. Where there are many they lie, except at the ends, on large pages if the operating system gives them to who
// asks: kernels that walk through rows far apart then seldom wait for the translation of addresses.
func Floats(n int) []float32 {
	x := make([]float32, n)
	if n >= least {
		advise(x)
	}
	return x
}
