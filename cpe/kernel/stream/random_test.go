package stream

import (
	"math"
	"testing"
)

// TestUniform: means, and correlation of neighbouring counters and keys, within five standard errors of those of
// independent uniform numbers.
func TestUniform(t *testing.T) {
	const n = 1 << 16
	var mean, next, keys float64
	for i := range uint64(n) {
		a, b, c := Uniform(1, i), Uniform(1, i+1), Uniform(2, i)
		if a < 0 || a >= 1 {
			t.Fatalf("number %d is %g, want it in [0, 1)", i, a)
		}
		mean += float64(a) / n
		next += (float64(a) - 0.5) * (float64(b) - 0.5) / n
		keys += (float64(a) - 0.5) * (float64(c) - 0.5) / n
	}
	if d := math.Abs(mean - 0.5); d > 5*math.Sqrt(1.0/12/n) {
		t.Errorf("mean %g", mean)
	}
	for what, v := range map[string]float64{"next counter": next, "next key": keys} {
		if math.Abs(v) > 5.0/12/math.Sqrt(n) {
			t.Errorf("covariance with the %s is %g", what, v)
		}
	}
}
