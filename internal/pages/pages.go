// Package pages allocates long arrays of values on large pages of memory.
package pages

import (
	"fmt"
	"math"
	"unsafe"
)

// least is how many values an array has that lies on large pages: as many as a page of 2 MB.
const least = 1 << 19

// Floats returns n zeros. Where there are many they lie on large pages if the operating system gives them to who asks: kernels that walk
// through rows far apart then seldom wait for the translation of addresses. It panics with a TooMuch where the computer has less memory.
func Floats(n int) []float32 {
	if n < least {
		return make([]float32, n)
	}
	Demand(float64(n))
	return onLarge(n)
}

// Make returns a slice of n zeros, for arrays whose length follows from sizes that a user gave. It panics as Floats does.
func Make[T any](n int) []T {
	var one T
	demand(float64(n)*float64(unsafe.Sizeof(one))/4, min(Memory(), most))
	return make([]T, n)
}

// TooMuch says that values need more memory than the computer has. It is what a user asked for with a large number in a file or a
// flag, and comes up where an array is made, deep inside the library: so it is a panic there, and Catch makes an error of it further out.
type TooMuch struct{ Bytes float64 }

func (e *TooMuch) Error() string {
	text := size(e.Bytes) + " of memory would be needed in one piece"
	have, limited := memory()
	switch {
	case math.IsInf(have, 1):
	case limited:
		text += ", this process may use " + size(have)
	default:
		text += ", this computer has " + size(have)
	}
	return text
}

// Memory returns the bytes of the computer's memory with what it may swap, or what control groups and the limits of the process
// (ulimit -v) leave of that; infinity where nothing is known.
func Memory() float64 {
	bytes, _ := memory()
	return bytes
}

// Demand panics with a TooMuch where so many values do not fit the computer's memory.
func Demand(values float64) { demand(values, min(Memory(), most)) }

// DemandShape does so where no computer's memory has room for so many values: for shapes that are looked at and not stored.
func DemandShape(values float64) { demand(values, most) }

func demand(values, limit float64) {
	if bytes := 4 * values; bytes > limit {
		panic(&TooMuch{bytes})
	}
}

// most is a number of bytes far above any memory's, and low enough that arithmetic on sizes does not overflow.
const most = 1 << 44

// Catch, deferred, sets *err to the TooMuch that a function panics with.
func Catch(err *error) {
	switch r := recover().(type) {
	case nil:
	case *TooMuch:
		*err = r
	default:
		panic(r)
	}
}

// size prints bytes with three digits.
func size(bytes float64) string {
	units := []string{"bytes", "KB", "MB", "GB", "TB", "PB", "EB"}
	i := 0
	for ; bytes >= 999.5 && i < len(units)-1; i++ {
		bytes /= 1000
	}
	return fmt.Sprintf("%.3g %s", bytes, units[i])
}
