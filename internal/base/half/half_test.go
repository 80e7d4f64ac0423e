package half

import (
	"math"
	"testing"
)

// TestFloat32 compares all numbers with the definition.
func TestFloat32(t *testing.T) {
	for h := range 1 << 16 {
		sign, exponent, fraction := 1-2*float64(h>>15), h>>10&31, float64(h&1023)
		want := sign * math.Ldexp(1024+fraction, exponent-25)
		switch {
		case exponent == 0:
			want = math.Copysign(math.Ldexp(fraction, -24), sign)
		case exponent == 31 && fraction == 0:
			want = math.Inf(int(sign))
		case exponent == 31:
			want = math.NaN()
		}
		got := Float32(uint16(h))
		if math.IsNaN(want) != (got != got) || !math.IsNaN(want) && (float64(got) != want || math.Signbit(float64(got)) != math.Signbit(want)) {
			t.Fatalf("%#04x is %g, want %g", h, got, want)
		}
	}
}
