package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestSumsOfRows: all numbers of columns up to several blocks of vectors, rows that touch and rows that do not, a source that ends
// with the last column.
func TestSumsOfRows(t *testing.T) {
	const scale, shift = float32(0.7), float32(-1.5)
	each(t, func(t *testing.T) {
		for n := range 150 {
			for rows := range 6 {
				ld := n + n%3
				_, x := banded(max(0, (rows-1)*ld+n), n%5)
				for _, squares := range []bool{false, true} {
					all, d := banded(n, n%7)
					if squares {
						SumSquaresOfRows(d, x, ld, rows, scale, shift)
					} else {
						SumRows(d, x, ld, rows, scale, shift)
					}
					checkGuard(t, all, n, n%7)
					for i := range d {
						sum, size := 0.0, 0.0
						for r := range rows {
							v := float64(x[r*ld+i])
							if squares {
								v *= v
							}
							sum, size = sum+v, size+math.Abs(v)
						}
						if want := float64(scale)*sum + float64(shift); !near(d[i], want, size+2, 4e-7) {
							t.Fatalf("n=%d rows=%d squares=%v column %d: %v, want %v", n, rows, squares, i, d[i], want)
						}
					}
				}
			}
		}
	})
}

// TestMulPow compares with math.Pow: ordinary scales, and everything that a float32 can be but negative.
func TestMulPow(t *testing.T) {
	var y []float32
	for _, v := range []float64{0, math.NaN(), math.Inf(1), 1e-45, 1e-40, 1, math.MaxFloat32, 0x1p-126} {
		y = append(y, float32(v))
	}
	for range 20000 {
		y = append(y, math.Float32frombits(rand.Uint32()), float32(math.Exp(rand.NormFloat64()*9)), 1+rand.Float32())
	}
	for _, p := range []float32{-0.75, -0.5, -1, 1.3} {
		each(t, func(t *testing.T) {
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
				if !near(d[i], want, math.Abs(want), 5e-7) {
					t.Fatalf("%v * %v^%v = %v, want %v", x[i], v, p, d[i], want)
				}
			}
		})
	}
}
