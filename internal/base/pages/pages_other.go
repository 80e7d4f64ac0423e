//go:build !linux

package pages

import "math"

func onLarge(n int) []float32 { return make([]float32, n) }

// Release leaves memory to Go's collector on this system.
func Release[T byte | int16 | float32]([]T) {}

func untouched(n int) []float32 { return make([]float32, n) }

// memory is unknown on this system.
func memory() (bytes float64, limited bool) { return math.Inf(1), false }

// available is unknown on this system.
func available() float64 { return math.Inf(1) }
