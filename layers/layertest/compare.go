package layertest

import (
	"fmt"
	"math"
	"testing"
)

// poison fills values with NaN.
func poison(values []float32) {
	for i := range values {
		values[i] = float32(math.NaN())
	}
}

// differs reports whether got is further from want than tolerance * (1 + |want|). NaN equals only NaN, and an infinity only itself.
func differs(got, want float32, tolerance float64) bool {
	g, w := float64(got), float64(want)
	if got == want || math.IsNaN(g) && math.IsNaN(w) {
		return false
	}
	return math.IsInf(w, 0) || !(math.Abs(g-w) <= tolerance*(1+math.Abs(w)))
}

// compare returns an error with the first differing element and the number of differing elements.
func compare(what string, got, want []float32, tolerance float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("%s has %d values, %d expected", what, len(got), len(want))
	}
	first, n := -1, 0
	for i := range want {
		if differs(got[i], want[i], tolerance) {
			if n++; first < 0 {
				first = i
			}
		}
	}
	if n == 0 {
		return nil
	}
	return fmt.Errorf("%s element %d is %g, expected %g (tolerance %g*(1+|expected|)); %d of %d differ",
		what, first, got[first], want[first], tolerance, n, len(want))
}

// Equal fails the test if an element of got differs from want by more than tolerance * (1 + |want|). Infinities and NaN must match exactly.
func Equal(t testing.TB, what string, got, want []float32, tolerance float64) {
	t.Helper()
	if err := compare(what, got, want, tolerance); err != nil {
		t.Error(err)
	}
}
