package vnorm

import (
	"math"
	"testing"

	"github.com/swcaffe/swcaffe/internal/base/simd/simdtest"
	"github.com/swcaffe/swcaffe/internal/base/simd/vec"
)

// lengths are around whole vectors of both widths.
var lengths = []int{0, 1, 7, 8, 9, 15, 16, 17, 31, 33, 250}

func TestNormal(t *testing.T) {
	p := &Row{Mean: 0.4, Scale: 1.3, Gamma: -0.7, Beta: 0.2, Slope: 0.1, A: 0.9, B: -0.3, C: 0.6}
	simdtest.Each(t, func(t *testing.T) {
		for _, n := range lengths {
			allX, x := simdtest.Banded(n, 3)
			allDy, dy := simdtest.Banded(n, 1)
			allY, y := simdtest.Banded(n, 2)
			allDx, dx := simdtest.Banded(n, 5)
			Normalise(y, x, p)
			NormaliseGrad(dx, dy, x, p)
			products, sums := NormaliseSums(dy, x, p)
			sum, squares := Moments(x, p.Mean)
			var want [4]float64
			for i, v := range x {
				xn := (float64(v) - 0.4) * 1.3
				out, g := xn*-0.7+0.2, float64(dy[i])
				if out < 0 {
					out, g = 0.1*out, 0.1*g
				}
				want[0], want[1] = want[0]+g*xn, want[1]+g
				want[2], want[3] = want[2]+float64(v), want[3]+(float64(v)-0.4)*(float64(v)-0.4)
				if !simdtest.Near(y[i], out, 10, 1e-6) || !simdtest.Near(dx[i], 0.9*g-0.3+0.6*xn, 10, 1e-6) {
					t.Fatalf("n=%d: value %d is %g, want %g; gradient %g, want %g", n, i, y[i], out, dx[i], 0.9*g-0.3+0.6*xn)
				}
			}
			for i, got := range []float64{products, sums, sum, squares} {
				if math.Abs(got-want[i]) > 1e-5*float64(n+1) {
					t.Fatalf("n=%d: sum %d is %g, want %g", n, i, got, want[i])
				}
			}
			simdtest.CheckGuard(t, allX, n, 3)
			simdtest.CheckGuard(t, allDy, n, 1)
			simdtest.CheckGuard(t, allY, n, 2)
			simdtest.CheckGuard(t, allDx, n, 5)
		}
	})
}

// TestNormalEqualsItsParts: the fused pass gives the bits of the operations one by one.
func TestNormalEqualsItsParts(t *testing.T) {
	p := &Row{Mean: 1.37, Scale: 0.61, Gamma: 1.9, Beta: -0.77, Slope: 0.25}
	simdtest.Each(t, func(t *testing.T) {
		for _, n := range []int{16, 33, 250} {
			_, x := simdtest.Banded(n, 1)
			got, want := make([]float32, n), make([]float32, n)
			Normalise(got, x, p)
			vec.AddScalar(want, x, -p.Mean)
			vec.Scale(want, want, p.Scale)
			vec.Affine(want, want, p.Gamma, p.Beta)
			vec.ReLU(want, want, p.Slope)
			for i := range want {
				if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
					t.Fatalf("n=%d: value %d is %g, its parts give %g", n, i, got[i], want[i])
				}
			}
		}
	})
}
