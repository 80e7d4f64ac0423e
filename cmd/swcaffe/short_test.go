package main

import (
	"math"
	"testing"
)

// TestShort: figures stand as C++ streams print them, those that are no numbers too.
func TestShort(t *testing.T) {
	for v, want := range map[float64]string{
		0.1234567: "0.123457", 1e6: "1e+06", 123456: "123456", -2.5e-7: "-2.5e-07", 3: "3", math.Inf(1): "inf", math.Inf(-1): "-inf", math.NaN(): "nan",
	} {
		if got := short(v); got != want {
			t.Errorf("%v is printed as %q, want %q", v, got, want)
		}
	}
}
