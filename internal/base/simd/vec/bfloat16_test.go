package vec

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
)

// nearestBFloat16 is the nearest bfloat16 value by its definition: of the two neighbours the nearer one, or the one whose last bit is 0.
func nearestBFloat16(v float32) float32 {
	if v != v || math.IsInf(float64(v), 0) {
		return v
	}
	below := math.Float32frombits(math.Float32bits(v) &^ 0xffff) // towards zero
	above := math.Float32frombits(math.Float32bits(below) + 1<<16)
	far := float64(above)
	if math.IsInf(far, 0) {
		far = math.Copysign(0x1p128, far)
	}
	near, beyond := math.Abs(float64(v)-float64(below)), math.Abs(far-float64(v))
	if near < beyond || near == beyond && math.Float32bits(below)>>16&1 == 0 {
		return below
	}
	return above
}

// TestSwapRounded: at every level values are rounded to the nearest bfloat16, ties to even, and change places with their neighbours.
func TestSwapRounded(t *testing.T) {
	draw := rand.New(rand.NewPCG(3, 4))
	x := []float32{0, float32(math.Copysign(0, -1)), 1, -1, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), math.MaxFloat32, -math.MaxFloat32,
		0x1p-126, -0x1p-126, 0x1.fffffcp-127, math.SmallestNonzeroFloat32, math.Float32frombits(0x7f800001), 1 + 0x1p-8, 1 + 0x3p-8, 1 + 0x1p-8 + 0x1p-23, -1 - 0x1p-8}
	for len(x) < 3000 {
		x = append(x, math.Float32frombits(draw.Uint32()))
	}
	simdtest.EachTarget(t, func(t *testing.T) {
		for _, n := range []int{0, 2, 16, 18, 46, len(x)} {
			got := make([]float32, n)
			SwapRounded(got, x)
			for i, g := range got {
				v := x[i^1]
				want := nearestBFloat16(v)
				if math.Abs(float64(v)) < 0x1p-126 {
					want = float32(math.Copysign(0, float64(v)))
				}
				if math.Float32bits(g) != math.Float32bits(want) && !(g != g && v != v && math.Float32bits(g)&0xffff == 0) {
					t.Errorf("of %d, %d: %x is rounded to %x, want %x", n, i, v, g, want)
				}
			}
		}
	})
	simdtest.EachTarget(t, func(t *testing.T) {
		round := make([]float32, len(x))
		Round(round, x)
		for i, g := range round {
			if want := BFloat16(x[i]); math.Float32bits(g) != math.Float32bits(want) {
				t.Errorf("%x is rounded to %x, want %x", x[i], g, want)
			}
		}
		got := make([]float32, len(x)-2)
		PairUp(got, x, x[2:])
		for i, g := range got {
			if want := Pair(x[i], x[i+2]); math.Float32bits(g) != math.Float32bits(want) {
				t.Errorf("the pair of %x and %x is %#x, want %#x", x[i], x[i+2], math.Float32bits(g), math.Float32bits(want))
			}
		}
	})
	for range 1000 {
		a, b := math.Float32frombits(draw.Uint32()&^0xffff), math.Float32frombits(draw.Uint32()&^0xffff)
		if first, second := Unpair(Pair(a, b)); first != BFloat16(a) && a == a || second != BFloat16(b) && b == b {
			t.Errorf("the pair of %x and %x is %x and %x", a, b, first, second)
		}
	}
}
