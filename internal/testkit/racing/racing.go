// Package racing tells tests whether the race detector watches them. The detector slows Go code down by a factor of five to twenty and
// finds a race in any problem that has the same goroutines and buffers; so a test over many shapes takes a third of them with Few. The
// shapes that are left out are computed without the detector, in the same test.
package racing

import "testing"

// SkipSequential skips a test whose code under test runs on one goroutine. Without the detector the test runs.
func SkipSequential(t testing.TB) {
	t.Helper()
	if Detector {
		t.Skip("has one goroutine: nothing for the race detector")
	}
}

// Few returns every third element of list, the first included, under the race detector, and list otherwise.
func Few[T any](list []T) []T {
	if !Detector {
		return list
	}
	var few []T
	for i := 0; i < len(list); i += 3 {
		few = append(few, list[i])
	}
	return few
}

// Iterations returns a third of n, rounded up, under the race detector, and n otherwise. A training's iterations have the same goroutines and
// buffers, so that the first ones show a race.
func Iterations(n int) int {
	if !Detector {
		return n
	}
	return (n + 2) / 3
}
