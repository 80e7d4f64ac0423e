// Package pages allocates long arrays of values on large pages of memory.
package pages

// least is how many values an array has that lies on large pages: as many as a page of 2 MB.
const least = 1 << 19

// Floats returns n zeros. Where there are many they lie on large pages if the operating system gives them to who asks: kernels that walk
// through rows far apart then seldom wait for the translation of addresses.
func Floats(n int) []float32 {
	if n < least {
		return make([]float32, n)
	}
	return onLarge(n)
}
