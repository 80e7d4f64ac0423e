// Package simdtest holds what tests of vector kernels share: Each runs a test at every level of the computer, EachTarget also at that of a target
// with one kernel, SkipRepeated leaves out tests that do not depend on the level, Banded makes slices between guard values, Near compares with a
// bound.
package simdtest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
)

// guard is the value before and after slices that Banded makes.
const guard = 12345.5

// Partial, behind the name of a level with vectors, makes a target with one kernel of it: all but the micro-kernel of products is computed in Go,
// with the block sizes of the level.
const Partial = ":vgemm.Micro"

// Each runs a test at every level of the computer, plain Go among them.
func Each(t *testing.T, f func(t *testing.T)) { each(t, isa.Levels(), f) }

// EachTarget is Each for kernels with block sizes. It also runs the test at a Partial of every level with vectors.
func EachTarget(t *testing.T, f func(t *testing.T)) {
	levels := isa.Levels()
	for _, level := range levels[:len(levels)-1] { // the last is plain Go
		levels = append(levels, level+Partial)
	}
	each(t, levels, f)
}

func each(t *testing.T, levels []string, f func(t *testing.T)) {
	for _, level := range levels {
		t.Run(level, func(t *testing.T) {
			defer isa.Use(level)()
			f(t)
		})
	}
}

// Seeded is a source of the same values in every run.
func Seeded(seed int) *rand.Rand { return rand.New(rand.NewPCG(uint64(seed), 7)) }

// Banded is a slice of n normally distributed values inside a larger slice of guard values. It begins off values after the first guards.
func Banded(n, off int) (all, inner []float32) {
	all = make([]float32, n+off+20)
	for i := range all {
		all[i] = guard
	}
	inner = all[off : off+n]
	r := Seeded(n<<8 + off)
	for i := range inner {
		inner[i] = float32(r.NormFloat64() * 3)
	}
	return all, inner
}

// CheckGuard fails where a guard value around a slice of Banded is overwritten.
func CheckGuard(t *testing.T, all []float32, n, off int) {
	t.Helper()
	for i, v := range all {
		if (i < off || i >= off+n) && v != guard {
			t.Fatalf("n=%d off=%d: guard %d overwritten with %v", n, off, i, v)
		}
	}
}

// Near reports whether got is want, or no further from it than tol times the scale of the terms; NaN is near NaN.
func Near(got float32, want, scale, tol float64) bool {
	if w := float32(want); got == w || got != got && w != w {
		return true
	}
	return math.Abs(float64(got)-want) <= tol*scale+1e-45
}

// Pseudo is n pseudo-random values in [-1, 1), determined by a seed.
func Pseudo(n int, seed int) []float32 {
	r := Seeded(seed)
	v := make([]float32, n)
	for i := range v {
		v[i] = 2*r.Float32() - 1
	}
	return v
}
