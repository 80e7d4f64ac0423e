package simdtest

import (
	"testing"

	"github.com/swcaffe/swcaffe/internal/simd/isa"
)

// SkipRepeated skips a test whose results no vector kernel computes, such as the charges of a modelled machine, in a program that runs plain Go
// on a computer with vectors. scripts/check.sh runs the test at the computer's best level, and would repeat it here. Where plain Go is all that
// there is, the test runs.
func SkipRepeated(t testing.TB) {
	t.Helper()
	if repeated(isa.Vectors(), len(isa.Levels())) {
		t.Skip("no vector kernel computes what it checks: it runs at the best level")
	}
}

// repeated reports whether a program repeats what another has tested: it runs without vectors, and the computer has other levels.
func repeated(vectors bool, levels int) bool { return !vectors && levels > 1 }
