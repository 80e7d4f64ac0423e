package simdtest

import (
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/isa"
)

// SkipRepeated skips a test whose results no vector kernel computes, such as the charges of a modelled machine, in a program that runs plain Go
// on a computer with vectors. scripts/check.sh runs the test at the computer's best level, and would repeat it here. Where plain Go is all that
// there is, the test runs.
func SkipRepeated(t testing.TB) {
	t.Helper()
	if repeated(isa.Name(), isa.Levels()) {
		t.Skip("no vector kernel computes what it checks: it runs at the best level")
	}
}

// repeated reports whether a program repeats what another has tested: its level is the last of the computer's, plain Go, and there are others.
func repeated(level string, levels []string) bool {
	return len(levels) > 1 && level == levels[len(levels)-1]
}
