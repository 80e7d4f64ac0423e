package pages

import (
	"math"
	"testing"
)

// TestFreeMemory: what the kernel can give is its available memory and the free swap.
func TestFreeMemory(t *testing.T) {
	for text, want := range map[string]float64{
		"MemTotal:  100 kB\nMemFree: 20 kB\nMemAvailable:     50 kB\nSwapTotal: 9 kB\nSwapFree:  7 kB\n": 57 * 1024,
		"MemAvailable: 5 kB\n": 5 * 1024,
		"MemTotal: 5 kB\n":     math.Inf(1),
		"":                     math.Inf(1),
		"MemAvailable: x kB":   math.Inf(1),
	} {
		if got := freeOf(text); got != want {
			t.Errorf("%q: %g, want %g", text, got, want)
		}
	}
	if free := available(); !(free > 0) {
		t.Errorf("%g bytes are free here", free)
	}
}
