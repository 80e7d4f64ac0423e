package vnorm

import (
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
)

// TestSumsOfRows: all numbers of columns up to several blocks of vectors, rows that touch and rows that do not, a source that ends
// with the last column.
func TestSumsOfRows(t *testing.T) {
	const scale, shift = float32(0.7), float32(-1.5)
	simdtest.Each(t, func(t *testing.T) {
		for n := range 150 {
			for rows := range 6 {
				ld := n + n%3
				_, x := simdtest.Banded(max(0, (rows-1)*ld+n), n%5)
				_, a := simdtest.Banded(n, n%4)
				all, d := simdtest.Banded(n, n%7)
				more, e := simdtest.Banded(n, n%6)
				before := append([]float32(nil), e...)
				SumSquaresOfRows(d, x, ld, rows, scale, shift)
				MulAddRows(e, a, x, ld, rows, scale)
				simdtest.CheckGuard(t, all, n, n%7)
				simdtest.CheckGuard(t, more, n, n%6)
				for i := range d {
					squares, sum, size := float64(shift), 0.0, 2.0
					for r := range rows {
						v := float64(x[r*ld+i])
						sum, squares, size = sum+v, squares+float64(scale)*v*v, size+math.Abs(v)+v*v
					}
					if !simdtest.Near(d[i], squares, size, 4e-7) {
						t.Fatalf("n=%d rows=%d column %d: squares %v, want %v", n, rows, i, d[i], squares)
					}
					if want := float64(before[i]) + float64(scale)*float64(a[i])*sum; !simdtest.Near(e[i], want, size*(1+math.Abs(float64(a[i])))+math.Abs(want), 4e-7) {
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
	simdtest.Each(t, func(t *testing.T) {
		for n := range 100 {
			for _, p := range []float32{-0.75, -0.6} {
				_, dy := simdtest.Banded(n, n%3)
				_, x := simdtest.Banded(n, n%4)
				_, s := simdtest.Banded(n, n%5)
				for i := range s {
					s[i] = 1 + s[i]*s[i]
					if 3*i+n < 9 {
						s[i] = []float32{0, inf, float32(math.NaN())}[i]
					}
				}
				all, own := simdtest.Banded(n, n%6)
				more, ratio := simdtest.Banded(n, n%7)
				PowRatio(own, ratio, dy, x, s, p)
				simdtest.CheckGuard(t, all, n, n%6)
				simdtest.CheckGuard(t, more, n, n%7)
				for i, v := range s {
					first := float64(dy[i]) * math.Pow(float64(v), float64(p))
					second := first * float64(x[i]) / float64(v)
					if !simdtest.Near(own[i], first, math.Abs(first), 5e-7) || !simdtest.Near(ratio[i], second, math.Abs(second), 5e-7) {
						t.Fatalf("n=%d element %d, scale %v: %v and %v, want %v and %v", n, i, v, own[i], ratio[i], first, second)
					}
				}
			}
		}
	})
}
