package vec

import (
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
)

// TestUniform pins the sequence: dropout masks and stochastic pooling of a run that is resumed depend on it.
func TestUniform(t *testing.T) {
	// SplitMix64 seeded with 0 starts with 0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4 (Vigna's splitmix64.c).
	if a, b := Uniform(0, 0), Uniform(0, 1); a != 0xe220a8 || b != 0x6e789e {
		t.Errorf("%#x, %#x", a, b)
	}
}

// TestDrop: numbers are those of Uniform at every length, place and key; bounds that drop all, none or about half; in place, and with values that are
// not finite, of which dropped ones become NaN.
func TestDrop(t *testing.T) {
	simdtest.Each(t, func(t *testing.T) {
		for n := 1; n <= 67; n++ {
			for _, below := range []uint32{0, 1 << (UniformBits - 1), 1<<UniformBits - 1, 12345678} {
				testDrop(t, n, uint64(n)*0x123456789abcdef1, uint64(n*n)<<uint(n%40), below)
			}
		}
	})
}

func testDrop(t *testing.T, n int, key, first uint64, below uint32) {
	_, src := simdtest.Banded(n, 1)
	src[n/2] = float32(math.Inf(-1))
	guarded, dst := simdtest.Banded(n, 2)
	Drop(dst, src, key, first, below, 1.25)
	simdtest.CheckGuard(t, guarded, n, 2)
	for i, got := range dst {
		want := src[i] * 1.25
		if Uniform(key, first+uint64(i)) < below {
			want = src[i] * 0
		}
		if math.Float32bits(got) != math.Float32bits(want) && !(got != got && want != want) {
			t.Fatalf("%d values from %d, below %d: value %d is %g, want %g", n, first, below, i, got, want)
		}
	}
	Drop(src, src, key, first, below, 1.25)
	for i, v := range src {
		if v != dst[i] && v == v {
			t.Fatalf("in place value %d is %g, want %g", i, v, dst[i])
		}
	}
}
