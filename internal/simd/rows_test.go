package simd

import (
	"math"
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
				_, a := banded(n, n%4)
				all, d := banded(n, n%7)
				more, e := banded(n, n%6)
				before := append([]float32(nil), e...)
				SumSquaresOfRows(d, x, ld, rows, scale, shift)
				MulAddRows(e, a, x, ld, rows, scale)
				checkGuard(t, all, n, n%7)
				checkGuard(t, more, n, n%6)
				for i := range d {
					squares, sum, size := float64(shift), 0.0, 2.0
					for r := range rows {
						v := float64(x[r*ld+i])
						sum, squares, size = sum+v, squares+float64(scale)*v*v, size+math.Abs(v)+v*v
					}
					if !near(d[i], squares, size, 4e-7) {
						t.Fatalf("n=%d rows=%d column %d: squares %v, want %v", n, rows, i, d[i], squares)
					}
					if want := float64(before[i]) + float64(scale)*float64(a[i])*sum; !near(e[i], want, size*(1+math.Abs(float64(a[i])))+math.Abs(want), 4e-7) {
						t.Fatalf("n=%d rows=%d column %d: product %v, want %v", n, rows, i, e[i], want)
					}
				}
			}
		}
	})
}

// TestPowRatio: all numbers of elements, and scales from which roots and divisions give what is not finite.
func TestPowRatio(t *testing.T) {
	inf := float32(math.Inf(1))
	each(t, func(t *testing.T) {
		for n := range 100 {
			for _, p := range []float32{-0.75, -0.6} {
				_, dy := banded(n, n%3)
				_, x := banded(n, n%4)
				_, s := banded(n, n%5)
				for i := range s {
					s[i] = 1 + s[i]*s[i]
					if 3*i+n < 9 {
						s[i] = []float32{0, inf, float32(math.NaN())}[i]
					}
				}
				all, own := banded(n, n%6)
				more, ratio := banded(n, n%7)
				PowRatio(own, ratio, dy, x, s, p)
				checkGuard(t, all, n, n%6)
				checkGuard(t, more, n, n%7)
				for i, v := range s {
					first := float64(dy[i]) * math.Pow(float64(v), float64(p))
					second := first * float64(x[i]) / float64(v)
					if !near(own[i], first, math.Abs(first), 5e-7) || !near(ratio[i], second, math.Abs(second), 5e-7) {
						t.Fatalf("n=%d element %d, scale %v: %v and %v, want %v and %v", n, i, v, own[i], ratio[i], first, second)
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
	r := seeded(2)
	for range 20000 {
		y = append(y, math.Float32frombits(r.Uint32()), float32(math.Exp(r.NormFloat64()*9)), 1+r.Float32())
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

// TestSumShifted: all numbers of columns up to several blocks of vectors, places in no order, of which some are the same.
func TestSumShifted(t *testing.T) {
	each(t, func(t *testing.T) {
		for n := range 150 {
			for k := range 6 {
				var offs []int
				for p := range k {
					offs = append(offs, p*p*7%11)
				}
				_, x := banded(n+10, n%5)
				all, d := banded(n, n%7)
				SumShifted(d, x, offs)
				checkGuard(t, all, n, n%7)
				for j := range d {
					var want, size float64
					for _, at := range offs {
						want, size = want+float64(x[at+j]), size+math.Abs(float64(x[at+j]))
					}
					if !near(d[j], want, size, 4e-7) {
						t.Fatalf("n=%d of %d places, value %d: %v, want %v", n, k, j, d[j], want)
					}
				}
			}
		}
	})
}
