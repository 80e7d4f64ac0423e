package part

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// TestLost: weights that were multiplied by a factor come back bit by bit, whatever weights and factors are, and ordinary ones take two bits.
func TestLost(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	factors := []float32{1, -1, 0.3, 1e-3, -7e4, 3e38, 1e-45, 1e-38, 0, inf, nan, 1.0000001, 0.9999999}
	for range 200 {
		factors = append(factors, float32(math.Exp(6*r.NormFloat64())))
	}
	const row = 1237
	weights := make([]float32, len(factors)*row)
	for i := range weights {
		switch weights[i] = float32(r.NormFloat64() * 0.05); r.IntN(40) {
		case 0:
			weights[i] = 0
		case 1:
			weights[i] = float32(math.Copysign(0, -1))
		case 2:
			weights[i] = float32(math.Ldexp(1, r.IntN(8)-4))
		}
	}
	for i, v := range []float32{nan, inf, -inf, 1e-45, 3e38, math.Float32frombits(0x7fc00001)} {
		weights[(20+i)*row] = v
	}
	l, products := newLost(len(factors), row), make([]float32, len(weights))
	for o, f := range factors {
		vec.Scale(products[o*row:][:row], weights[o*row:][:row], f)
		l.note(o, weights[o*row:][:row], products[o*row:][:row], f)
	}
	l.restore(products)
	for i, v := range weights {
		if got := products[i]; math.Float32bits(got) != math.Float32bits(v) {
			t.Fatalf("factor %g: weight %g (%x) comes back as %g (%x)", factors[i/row], v, math.Float32bits(v), got, math.Float32bits(got))
		}
	}
	for o := 30; o < len(factors); o++ {
		if l.whole[o] != nil {
			t.Errorf("factor %g: the whole row is kept", factors[o])
		}
	}
}
