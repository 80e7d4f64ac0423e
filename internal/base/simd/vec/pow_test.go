package vec

import (
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
)

// TestMulPow compares with math.Pow: ordinary scales, and everything that a float32 can be but negative.
func TestMulPow(t *testing.T) {
	var y []float32
	for _, v := range []float64{0, math.NaN(), math.Inf(1), 1e-45, 1e-40, 1, math.MaxFloat32, 0x1p-126} {
		y = append(y, float32(v))
	}
	r := simdtest.Seeded(2)
	for range 20000 {
		y = append(y, math.Float32frombits(r.Uint32()), float32(math.Exp(r.NormFloat64()*9)), 1+r.Float32())
	}
	for _, p := range []float32{-0.75, -0.5, -1, 1.3} {
		simdtest.Each(t, func(t *testing.T) {
			x, d := make([]float32, len(y)), make([]float32, len(y))
			for i := range x {
				x[i] = float32(i%7) - 3.5
			}
			MulPow(d, x, y, p)
			for i, v := range y {
				pow := math.Pow(float64(v), float64(p))
				if pow > 1e38 || pow > 0 && pow < 1e-37 || v < 0 {
					continue // the power alone is no float32, or the base is negative
				}
				want := float64(x[i]) * pow
				if !simdtest.Near(d[i], want, math.Abs(want), 5e-7) {
					t.Fatalf("%v * %v^%v = %v, want %v", x[i], v, p, d[i], want)
				}
			}
		})
	}
}
