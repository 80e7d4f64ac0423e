// Package pages allocates long arrays of values on large pages of memory, and reports a TooMuch error if memory does not suffice.
package pages

import (
	"errors"
	"fmt"
	"math"
	"unsafe"
)

// least is the shortest array on large pages, in float32 values: one page of 2 MB.
const least = 1 << 19

// Floats returns n zeros. Long arrays lie on large pages, if the operating system grants them. Kernels that stride through
// distant rows then seldom wait for address translation. Floats panics with a TooMuch if the computer has too little memory.
func Floats(n int) []float32 {
	if n < least {
		return make([]float32, n)
	}
	Demand(float64(n))
	return onLarge(n)
}

// Ones returns n ones in memory of their own, for measurements: zeros might share one page. It panics like Floats.
func Ones(n int) []float32 {
	a := Make[float32](n)
	for i := range a {
		a[i] = 1
	}
	return a
}

// Make returns a slice of n zeros, for lengths that depend on a user's input. It panics like Floats.
func Make[T any](n int) []T {
	var one T
	demand(float64(n)*float64(unsafe.Sizeof(one))/4, min(Memory(), most))
	return make([]T, n)
}

// TooMuch reports that values need more memory than the computer has. The cause is a large number in a user's file or flag, but
// it shows deep inside the library, where an array is allocated. There it is a panic; Catch turns it into an error further out.
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

// Unreadable reports that values could not be read from their file when they were needed. It is a panic and becomes an error like TooMuch.
type Unreadable struct{ Err error }

func (e *Unreadable) Error() string { return e.Err.Error() }
func (e *Unreadable) Unwrap() error { return e.Err }

// Memory returns the bytes of the computer's memory and swap, or the smaller limit of control groups or of the process (ulimit
// -v); infinity if unknown.
func Memory() float64 {
	bytes, _ := memory()
	return bytes
}

// Demand panics with a TooMuch if so many values do not fit into the computer's memory.
func Demand(values float64) { demand(values, min(Memory(), most)) }

// DemandShape panics with a TooMuch if so many values fit into no computer's memory. It is for shapes whose values are not
// stored.
func DemandShape(values float64) { demand(values, most) }

func demand(values, limit float64) {
	if bytes := 4 * values; bytes > limit {
		panic(&TooMuch{bytes})
	}
}

// most is a number of bytes far above any memory, or what an address of 32 bits reaches, and low enough that arithmetic on sizes does not overflow.
const most = min(1<<44, math.MaxInt)

// Catch, called by defer, sets *err to the TooMuch or Unreadable of a panic, also of one that another goroutine has raised (relay).
func Catch(err *error) {
	r := recover()
	if r == nil {
		return
	}
	e, _ := r.(error)
	if *err = Outside(e); *err == nil {
		panic(r)
	}
}

// Outside returns the TooMuch or the Unreadable in an error, whose causes are not the program's, or nil.
func Outside(err error) error {
	var much *TooMuch
	var unread *Unreadable
	switch {
	case errors.As(err, &much):
		return much
	case errors.As(err, &unread):
		return unread
	}
	return nil
}

// size formats bytes with three digits.
func size(bytes float64) string {
	units := []string{"bytes", "KB", "MB", "GB", "TB", "PB", "EB"}
	i := 0
	for ; bytes >= 999.5 && i < len(units)-1; i++ {
		bytes /= 1000
	}
	return fmt.Sprintf("%.3g %s", bytes, units[i])
}
